"""Texts that a label, a title or a file name may hold, chosen to break renderers."""

HOSTILE = (
    r"\input{/etc/passwd} \write18{id} \csname end\endcsname", r"\end{document}",
    r"100% of #1 & {braces} ~tilde ^caret _under $x$ \ backslash", "%comment",
    '#read("/etc/passwd") #import "@preview/a:0.1.0" #panic() \\u{41} // comment /* */ #{',
    "= heading <label> @reference *bold* _italic_ `raw` ```raw``` / term: - item + item ~ $", "}{",
    "{{{", "}}}", "^^M ^^5c ^^@", "ends with \\", "[bracket] after a row's end",
    "*star after a row's end",
    "--- -- ``quotes'' ,,low'' <<guillemets>> ?` !` \"straight\" 'single'",
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)> <!-- comment --> ]]> &amp; &#60;",
    'a"b\'c" onmouseover="alert(1)', "javascript:alert(1)",
    "Δ τ σ² π₀ ≤ ≥ − × → ∞ Σˣ ½ ℝ √2 α β γ ϵ ϑ Α Ο ο",
    "Müller, Dvořák, Łódź, Erdős, ẍ ṽ ḩ, naïve façade, Ĳĳ Ħħ Ŧŧ ĸ Ŀŀ ŉ ſ ẞ",
    "中文 日本語 한국어 עברית العربية हिन्दी", "👩‍🔬 🇩🇪 𝛼 𝔸 ﬁ ㎏",
    "e\u0301 q\u0307 z\u0323\u0302 combining",
    "left\u202eright\u202c \u2066isolated\u2069 \u200fmark",
    "nul\x00 escape\x1b[31m bell\x07 delete\x7f c1\x85 line\u2028sep",
    "lone \ud800 surrogate, private \ue000\U000f0000, none \ufffe \U0001ffff",
    "tab\tline\nline\r\nparagraph\n\nend",
    "soft\u00adhyphen no\u00a0break zero\u200bwidth joiner\u200d", "x" * 300,
    "a_long_key.with/every:separator=" * 12, " ", "-", "`",
)  # fmt: skip
