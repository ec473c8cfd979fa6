// Delay and loss, in numbers.

const PACKET = 20; // ms, that a packet holds
const BUFFER = 80; // ms: four packets wait in the server for those that were overtaken
const CODER = 6.5; // ms

const ms = (value) => (value == null ? "–" : `${value < 10 ? value.toFixed(1) : value.toFixed(0)} ms`);
const percent = (lost, all) => (all > 0 ? `${((100 * lost) / all).toFixed(1)} %` : "–");

// Of a call's statistics: the way to the server and back, what waits here, what was lost on the way here.
export async function network(call) {
  const found = { roundTrip: null, waiting: null, lost: 0, received: 0 };
  let [delay, emitted] = [0, 0];
  for (const report of (await call.stats()).values()) {
    if (report.type === "candidate-pair" && report.nominated && report.currentRoundTripTime !== undefined)
      found.roundTrip = 1000 * report.currentRoundTripTime;
    if (report.type === "inbound-rtp") {
      found.lost += report.packetsLost ?? 0;
      found.received += report.packetsReceived ?? 0;
      delay += report.jitterBufferDelay ?? 0;
      emitted += report.jitterBufferEmittedCount ?? 0;
    }
  }
  if (emitted) found.waiting = (1000 * delay) / emitted;
  return found;
}

export function show(into, state, net, measured) {
  const known = state.engine_ms != null && net.roundTrip != null && net.waiting != null;
  const sum = known ? PACKET + CODER + BUFFER + state.engine_ms + state.frame_p50_ms + net.roundTrip + net.waiting : null;
  const rows = [
    ["Mouth to ear, measured", measured],
    ["Mouth to ear, sum of what is known", ms(sum)],
    ["of which velavox's delay", ms(state.engine_ms)],
    ["Processing time of a frame: median / longest", `${ms(state.frame_p50_ms)} / ${ms(state.frame_max_ms)}`],
    ["To the server and back", ms(net.roundTrip)],
    ["Waiting in this browser", ms(net.waiting)],
    ["Lost on the way to the server", percent(state.lost_packets, state.lost_packets + state.received_packets)],
    ["Lost on the way here", percent(net.lost, net.lost + net.received)],
    ["Silenced because something failed", `${state.muted_hops} × 10 ms`],
    ["Came too late to the server", `${state.dropped_frames} frames`],
  ];
  into.replaceChildren(
    ...rows.map(([name, value]) => {
      const [row, title, figure] = ["div", "dt", "dd"].map((tag) => document.createElement(tag));
      title.textContent = name;
      figure.textContent = value ?? "–";
      row.append(title, figure);
      return row;
    }),
  );
}
export { ms };
