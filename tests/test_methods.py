import pytest
from velavox.engine.listing import described
from velavox.engine.methods import METHODS, make


@pytest.mark.parametrize("name", METHODS)
def test_name_makes_the_stage_of_that_name(name: str) -> None:
    stage = make(name)
    assert stage.method == name
    assert stage.values == make(name, {}).values


def test_text_is_read_as_on_the_command_line() -> None:
    assert make("mcadams", {"alpha": "0.6,0.7"}).values == {"alpha": (0.6, 0.7)}
    assert make("vtln", {"warp": "power"}).values["warp"] == "power"


def test_wrong_names_list_the_right_ones() -> None:
    with pytest.raises(ValueError, match="give one of mcadams, vtln, voicemask, dp"):
        make("identity")
    with pytest.raises(ValueError, match="it has alpha"):
        make("mcadams", {"alpa": 1})


def test_list_says_what_the_stages_say() -> None:
    for entry in described():
        stage = make(entry["name"])
        assert entry["latency_ms"] == stage.latency / 16
        assert {p["name"]: p["default"] for p in entry["parameters"]} == stage.values
        assert entry["summary"]
