// The page: from the form to the call and back.

import { Call } from "./call.js";
import { Delay } from "./delay.js";
import * as figures from "./figures.js";
import * as parameters from "./parameters.js";
import { about, Refused } from "./signalling.js";
import { Meter, Sound } from "./sound.js";
import { Spectrogram } from "./spectrogram.js";

const $ = (id) => document.getElementById(id);
const CALM = matchMedia("(prefers-reduced-motion: reduce)");
const FRAME = 33; // ms between two pictures; for who wants no motion, 500

let server = null; // what /about told
let call = null;
let view = null; // what shows the call: see `look`

function say(text, bad = false) {
  $("status").textContent = text;
  $("status").className = bad ? "bad" : "";
}

// The token comes in the part of the address that browsers keep to themselves: #token=... or #room=...
const hints = new URLSearchParams(location.hash.slice(1));
$("token").value = hints.get("token") ?? "";
if (hints.get("room")) {
  $("room").value = hints.get("room");
  $("join").where.value = "room";
}

function fields() {
  const room = $("join").where.value === "room";
  $("room-field").hidden = !room;
  $("room").required = room;
}

async function learn() {
  try {
    server = await about($("token").value);
    $("method").replaceChildren(...server.methods.map(({ title, method }) => new Option(title, method, false, method === server.default)));
    return true;
  } catch (error) {
    if (error.status !== 401) say(error.message, true);
    else if (!$("token-field").hidden || $("token").value) say("The token is wrong.", true);
    if (error.status === 401) $("token-field").hidden = false;
    return false;
  }
}

async function microphone(loop) {
  if (!navigator.mediaDevices)
    throw new Error("Browsers give a microphone only to pages that come by HTTPS, or from this very machine.");
  try {
    // What is heard of oneself is no echo to be cancelled. Levels are velavox's to keep.
    const audio = { echoCancellation: !loop, noiseSuppression: !loop, autoGainControl: false, channelCount: 1 };
    return await navigator.mediaDevices.getUserMedia({ audio });
  } catch (error) {
    throw new Error(`The microphone cannot be used: ${error.message}`);
  }
}

async function start(event) {
  event.preventDefault();
  if (call) return;
  const room = $("join").where.value === "room" ? $("room").value : null;
  $("start").disabled = true;
  say("Connecting…");
  const context = new AudioContext({ sampleRate: 48000 }); // in the click, or it would stay silent
  try {
    if (!(server || (await learn()))) return context.close();
    const stream = await microphone(room === null);
    const voices = room === null ? 1 : server.participants - 1;
    const wanted = { room, method: $("method").value };
    call = new Call(stream, voices, $("token").value, wanted);
    const begun = call;
    call.addEventListener("ended", ({ detail }) => over(begun, context, detail));
    call.addEventListener("refused", ({ detail }) => say(detail, true));
    call.addEventListener("connected", () => say(room === null ? "You hear yourself as others would." : `You are in ${room}.`));
    call.addEventListener("state", ({ detail }) => view?.state(detail));
    view = look(call, context, room);
    await call.started;
    $("join").hidden = true;
    $("call").hidden = false;
    $("mute").focus();
  } catch (error) {
    if (call) call.leave();
    else context.close();
    say(error.message, true);
    if (error instanceof Refused && error.status === 401) $("token-field").hidden = false;
  } finally {
    $("start").disabled = false;
  }
}

function over(ended, context, why) {
  if (ended !== call) return;
  view?.close();
  call = view = null;
  context.close();
  $("call").hidden = true;
  $("join").hidden = false;
  $("mute").ariaPressed = "false";
  $("mute").textContent = "Mute";
  say(why || "You have left.", Boolean(why));
  $("start").focus();
}

// Everything that shows a running call, and lets it be changed.
function look(call, context, room) {
  const loop = room === null;
  const sent = new Sound(context, call.microphone);
  const heard = new Sound(context, ...call.ears);
  const pictures = [new Spectrogram($("before"), sent), new Spectrogram($("after"), heard)];
  const sentMeter = new Meter($("sent-meter"));
  const people = call.ears.map((stream, ear) => person(stream, ear, context, loop));
  $("people").replaceChildren(...people.map(({ item }) => item));
  $("alone").hidden = loop;
  $("after-caption").textContent = loop ? "After: you, as others hear you" : "What you hear: the others' changed voices";
  let [state, delay, last, open] = [null, null, 0, true];
  if (loop) Delay.of(context, sent.sources[0], heard.sources[0]).then((made) => (delay = made));

  const choose = (settings = {}) => call.ask({ method: $("method").value, settings });
  const fill = (settings) => parameters.show($("parameters"), server.methods.find((m) => m.method === $("method").value), settings, choose);
  $("method").onchange = () => {
    fill({});
    choose();
  };
  fill({});

  function draw(now) {
    if (!open) return;
    requestAnimationFrame(draw);
    if (now - last < (CALM.matches ? 500 : FRAME)) return;
    last = now;
    sentMeter.show(sent.level(), now);
    for (const { meter, sound } of people) meter.show(sound.level(), now);
    for (const picture of pictures) picture.draw();
  }
  requestAnimationFrame(draw);

  const every = setInterval(async () => {
    if (!state) return;
    const net = await figures.network(call);
    if (open) figures.show($("figures"), state, net, loop ? figures.ms(delay?.ms() ?? null) : "only in “Only me”");
  }, 1000);

  return {
    state(told) {
      state = told;
      people.forEach(({ name, item }, ear) => {
        const who = told.ears[ear];
        item.hidden = !who;
        if (who) name.textContent = `${loop ? "You" : `Voice ${who.voice}`}${who.muted ? ", muted" : ""}`;
      });
      $("alone").hidden = told.ears.some(Boolean);
    },
    close() {
      open = false;
      clearInterval(every);
      pictures.forEach((picture) => picture.close());
      $("people").replaceChildren();
    },
  };
}

// One who is heard: played by an audio element of its own, which browsers want before they let it be looked at.
function person(stream, ear, context, loop) {
  const item = document.createElement("li");
  item.className = "meter-line";
  item.hidden = true;
  const name = document.createElement("span");
  name.id = `person-${ear}`;
  const bar = document.createElement("div");
  bar.className = "meter";
  bar.role = "meter";
  bar.setAttribute("aria-labelledby", name.id);
  bar.ariaValueMin = "-60";
  bar.ariaValueMax = "0";
  bar.append(document.createElement("i"));
  const audio = document.createElement("audio");
  audio.autoplay = true;
  audio.srcObject = stream;
  item.append(name, bar, audio);
  return { item, name, meter: new Meter(bar), sound: new Sound(context, stream) };
}

$("join").addEventListener("submit", start);
$("join").addEventListener("change", fields);
$("token").addEventListener("change", () => (server = null));
$("leave").addEventListener("click", () => call?.leave());
$("new-voice").addEventListener("click", () => {
  call?.ask({ voice: "new" });
  say("You have another voice.");
});
$("mute").addEventListener("click", () => {
  const muted = $("mute").ariaPressed !== "true";
  $("mute").ariaPressed = String(muted);
  $("mute").textContent = muted ? "Muted" : "Mute";
  call?.mute(muted);
  say(muted ? "You are muted: nobody hears you." : "You are heard again.");
});
addEventListener("pagehide", () => call?.leave());
fields();
learn();
