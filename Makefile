# Each target sets everything up from nothing: a virtual environment in .venv, and the system packages where it may.
PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin

.PHONY: demo test check bench clean
demo: $(VENV)/ready-plot
	$(RUN)/python -m velavox.bench.demo demo_out

test: system $(VENV)/ready-test check
	$(RUN)/python -m pytest -n 2 --dist loadfile -m "not live"
	$(RUN)/python -m pytest -m live
	NUMBA_DISABLE_JIT=1 $(RUN)/python -m pytest -m nojit

check: $(VENV)/ready-test
	mkdir -p .types && ln -sfn .. .types/velavox
	$(RUN)/ruff check .
	$(RUN)/ruff format --check .
	$(RUN)/mypy -p velavox

bench: $(VENV)/ready-test
	$(RUN)/python -m velavox.bench.kernels
	$(RUN)/python -m velavox.bench.peers

# ffmpeg reads what libsndfile cannot; pyworld, a peer that tests and benches compare with, is compiled; live tests play to a
# PulseAudio server of their own, through PortAudio and ALSA's plugin for it; the voice-chat page is tested in Chromium, the element
# for GStreamer in GStreamer; espeak-ng tells synthetic English its phones.
PACKAGES := ffmpeg g++ python3-dev pulseaudio pulseaudio-utils libasound2-plugins libportaudio2 chromium espeak-ng \
	python3-gst-1.0 gstreamer1.0-python3-plugin-loader gstreamer1.0-plugins-base gstreamer1.0-plugins-good gstreamer1.0-tools
.PHONY: system
system:
	@for tool in ffmpeg gcc pulseaudio pactl chromium espeak-ng gst-launch-1.0; do command -v $$tool >/dev/null || missing="$$missing $$tool"; done; \
	$(PYTHON) -c 'import ctypes.util, sys; sys.exit(not ctypes.util.find_library("portaudio"))' || missing="$$missing portaudio"; \
	if [ -n "$$missing" ]; then \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; \
	  then apt-get update -qq && apt-get install -y -qq --no-install-recommends $(PACKAGES); \
	  else echo "missing:$$missing; install the like of $(PACKAGES), or the tests that need them fail" >&2; fi; \
	fi

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "velavox needs Python 3.11 or later: make PYTHON=python3.11")'
	$(PYTHON) -m venv $(VENV)
	$(RUN)/python -m pip install --quiet --upgrade pip

$(VENV)/ready-plot: $(VENV)/bin/python pyproject.toml
	$(RUN)/python -m pip install --quiet -e ".[plot]"
	touch $@

$(VENV)/ready-test: $(VENV)/bin/python pyproject.toml
	$(RUN)/python -m pip install --quiet -e ".[test,bench,world,train,audit,serve,content,content-models,pii,vectors,tts]"
	touch $@

clean:
	rm -rf $(VENV) .types build dist demo_out *.egg-info
	find . -name __pycache__ -prune -exec rm -rf {} +
