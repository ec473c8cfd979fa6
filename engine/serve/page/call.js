// One call: microphone out, ears in, and the control channel. Events: connected, state, refused, ended.

import { begin, end } from "./signalling.js";

const GATHERING = 3000; // ms for addresses of this machine: those of its own networks are there in 50
const CONNECTING = 20_000; // ms from the answer on; the server waits as long
const NO_WAY =
  "No way for sound between this browser and the server: a network on the way lets no UDP through, " +
  "or the server has no address that can be reached from here.";

export class Call extends EventTarget {
  #peer = new RTCPeerConnection({ bundlePolicy: "max-bundle" });
  #id = null;
  #connected = false;
  #ended = false;

  // microphone: a MediaStream. voices: how many can be heard. wanted: room, method, settings, muted.
  constructor(microphone, voices, token, wanted) {
    super();
    this.microphone = microphone;
    this.ears = []; // a MediaStream for each voice that can be heard
    this.#peer.addTransceiver(microphone.getAudioTracks()[0], { direction: "sendonly", streams: [microphone] });
    for (let ear = 0; ear < voices; ear++) {
      const { receiver } = this.#peer.addTransceiver("audio", { direction: "recvonly" });
      receiver.jitterBufferTarget = 0; // ms: wait as little as the network allows, where the browser takes the hint
      this.ears.push(new MediaStream([receiver.track]));
    }
    this.control = this.#peer.createDataChannel("control");
    this.control.onmessage = ({ data }) => {
      const told = JSON.parse(data);
      if (told.state) this.#emit("state", told.state);
      if (told.error) this.#emit("refused", told.error);
    };
    this.control.onclose = () => this.#over("The server has ended the call.");
    this.#peer.onconnectionstatechange = () => {
      if (this.#peer.connectionState === "connected") {
        this.#connected = true;
        this.#emit("connected");
      }
      if (this.#peer.connectionState === "failed") this.#over(this.#connected ? "The connection is lost." : NO_WAY);
    };
    microphone.getAudioTracks()[0].onended = () => this.#over("The microphone is gone.");
    this.started = this.#start(token, wanted);
  }

  async #start(token, wanted) {
    await this.#peer.setLocalDescription();
    await this.#gathered();
    const told = await begin(token, { ...wanted, sdp: this.#peer.localDescription.sdp });
    this.#id = told.id;
    if (this.#ended) end(told.id);
    else await this.#peer.setRemoteDescription({ type: "answer", sdp: told.sdp });
    setTimeout(() => this.#connected || this.#over(NO_WAY), CONNECTING);
    return told.number;
  }

  #gathered() {
    return new Promise((resolve) => {
      const look = () => this.#peer.iceGatheringState === "complete" && resolve();
      this.#peer.addEventListener("icegatheringstatechange", look);
      setTimeout(resolve, GATHERING);
      look();
    });
  }

  ask(message) {
    if (this.control.readyState === "open") this.control.send(JSON.stringify(message));
  }

  // The microphone's track is switched off here, so that not even the server gets the voice, and the server sends silence.
  mute(muted) {
    for (const track of this.microphone.getAudioTracks()) track.enabled = !muted;
    this.ask({ muted });
  }

  stats() {
    return this.#peer.getStats();
  }

  leave() {
    this.#over("");
  }

  #over(why) {
    if (this.#ended) return;
    this.#ended = true;
    if (this.#id) end(this.#id);
    this.#peer.close();
    for (const track of this.microphone.getTracks()) track.stop();
    this.#emit("ended", why);
  }

  #emit(type, detail = null) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }
}
