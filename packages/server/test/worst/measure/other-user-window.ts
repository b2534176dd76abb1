/** What the program of the other user is told. */
export interface OtherUserSettings {
  readonly port: number
  /** The server. */
  readonly pid: number
  readonly headers: Readonly<Record<string, string>>
  readonly valId: string
  /** The host name of a val that answers requests. */
  readonly host: string
}

interface Memory {
  readonly beforeMb: number
  readonly peakMb: number
  readonly nowMb: number
}

/** What the other user saw since the window before. */
export interface OtherUserWindow {
  readonly slowest: { readonly action: string; readonly ms: number }
  readonly failures: readonly string[]
  readonly actions: number
  readonly server: Memory
  /** All processes that the server has started, together. */
  readonly children: Memory
}

export const otherUserLimits = {
  /** Between two actions of a loop. */
  restMs: 20,
  /** An action that takes longer has failed. */
  waitMsMax: 20_000,
}

/** The val that is requested. */
export const otherUserVal = `export default () => new Response("<p>Hello</p>")`
