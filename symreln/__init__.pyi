# What `import symreln` offers and where it is, for type checkers and for __init__.py alike.
from symreln.calls.deep_networks import depth as depth
from symreln.calls.derive import Derivation as Derivation
from symreln.calls.derive import derive as derive
from symreln.calls.explain import explain as explain
from symreln.calls.gates import gates as gates
from symreln.calls.gates import race as race
from symreln.calls.gates import replay as replay
from symreln.calls.inform import info as info
from symreln.calls.inform import schema as schema
from symreln.calls.inform import tasks as tasks
from symreln.calls.inform import verify as verify
from symreln.calls.open import open as open
from symreln.calls.open import report as report
from symreln.calls.reproduce import reproduce as reproduce
from symreln.calls.sweep import sweep as sweep
from symreln.calls.validate import Validation as Validation
from symreln.calls.validate import run as run
from symreln.calls.validate import validate as validate
from symreln.exact.truth import Truth as Truth
from symreln.explanation.recorder import recorder as recorder
from symreln.pipeline.from_weights import from_weights as from_weights
from symreln.specs.build import network as network
from symreln.specs.build import pathway as pathway
from symreln.specs.build import spec as spec
from symreln.specs.spec import Dataset as Dataset
from symreln.specs.spec import NetworkSpec as NetworkSpec
from symreln.specs.spec import Parameter as Parameter
from symreln.specs.spec import PathwaySpec as PathwaySpec
from symreln.specs.spec import Spec as Spec
from symreln.specs.spec import ValidationSpec as ValidationSpec
from symreln.task_library.load import load as load
from symreln.verdict.judge import Level as Level

__version__: str
