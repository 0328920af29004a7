from hypothesis import settings

# A time limit on one example measures the load of a shared machine, not our code.
settings.register_profile("report", deadline=None)
settings.load_profile("report")
