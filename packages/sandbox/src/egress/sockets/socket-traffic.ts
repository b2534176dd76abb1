import type { RunListener } from "../../program/runner.ts"
import type { EgressClient } from "../../sandboxes/egress-listener.ts"
import type { EgressContext } from "../egress-context.ts"
import type { Refusal } from "../policy/refusal.ts"
import { ByteMeter } from "../proxy/byte-meter.ts"
import { recordRequest } from "../proxy/request-record.ts"

/** What the list of a run shows in place of method and URL. */
export interface SocketLabel {
  readonly method: "CONNECT" | "LOOKUP"
  readonly url: string
  /** The other side of a connection. */
  readonly peer?: { readonly host: string; readonly port: number }
}

const hostCharsMax = 255

/** The part of the traffic that belongs to one run. */
interface Share {
  readonly run: RunListener | undefined
  readonly at: number
  readonly startedMs: number
  readonly meter: ByteMeter
}

/**
 * Counts the bytes of one socket and lists them on the runs that use it. A socket may outlive the
 * run that opened it, as those in the pool of a database client do. Then its bytes belong to the
 * only run that is active, if there is only one, and otherwise to the account alone.
 */
export class SocketTraffic {
  readonly #context: EgressContext
  readonly #client: EgressClient
  readonly #label: SocketLabel
  #share: Share

  constructor(
    context: EgressContext,
    client: EgressClient,
    label: SocketLabel,
    run: RunListener | undefined,
  ) {
    this.#context = context
    this.#client = client
    this.#label = label
    this.#share = this.#begin(run)
  }

  /** Throws a Refusal when the account has used up its traffic. */
  start(): void {
    // Charges one byte up front, so that an account without allowance cannot open a socket.
    this.#share.meter.start(1)
    this.#share.meter.sent = 0
  }

  /** Throws a Refusal when a limit is reached. */
  countSent(bytes: number): void {
    this.#follow()
    this.#share.meter.countSent(bytes)
  }

  /** Throws a Refusal when a limit is reached. */
  countReceived(bytes: number): void {
    this.#follow()
    this.#share.meter.countReceived(bytes)
  }

  /** Lists what the run has transferred so far, so that it is complete when the run is read. */
  noteRunEnd(run: RunListener): void {
    if (this.#share.run === run) this.#next(undefined)
  }

  /** The socket is closed. The reason is null unless it was refused or aborted. */
  end(refusal: Refusal | undefined): void {
    this.#record(refusal?.reason ?? null)
  }

  /** Attributes the bytes that follow to the run that uses the socket now. */
  #follow(): void {
    const run = this.#client.findSocketRun(this.#share.run)
    if (run !== undefined && run !== this.#share.run) this.#next(run)
  }

  /** Neither bytes nor a secret in the name of the host are in a span. */
  #describe({ host, port }: NonNullable<SocketLabel["peer"]>) {
    return {
      "network.transport": "tcp",
      "server.address": this.#client.mask(host, hostCharsMax),
      "server.port": port,
    }
  }

  #next(run: RunListener | undefined): void {
    this.#record(null)
    this.#share = this.#begin(run)
  }

  #begin(run: RunListener | undefined): Share {
    const meter = new ByteMeter(this.#context.limits, (bytes) =>
      this.#context.takeBytes(this.#client.ownerId, bytes),
    )
    return { run, at: Date.now(), startedMs: performance.now(), meter }
  }

  #record(blocked: string | null): void {
    const { run, at, startedMs, meter } = this.#share
    meter.end()
    if (!run) return
    const { sent: bytesSent, received: bytesReceived } = meter
    const { peer, ...label } = this.#label
    // A run has only as many spans as it lists: a program may open any number of sockets.
    if (run.span && peer && run.listsRequests !== false)
      run.span.addChild(
        "tcp",
        "client",
        startedMs,
        this.#describe(peer),
        blocked ? "blocked" : undefined,
      )
    const durationMs = Math.round(performance.now() - startedMs)
    recordRequest(
      run,
      { at, ...label, status: null, blocked, bytesSent, bytesReceived, durationMs },
      (text, charsMax) => this.#client.mask(text, charsMax),
      this.#context.limits.listedUrlCharsMax,
    )
  }
}
