/**
 * Types that Deno's libraries lack: timers, which Deno takes from Node, and our own. Browser globals
 * are any, since a val may serve browser code.
 */
export const prelude = `
declare namespace Intl {
  interface DurationFormatOptions {}
}

/** Calls a function once, after \`delay\` milliseconds. */
declare function setTimeout<Args extends any[]>(callback: (...args: Args) => void, delay?: number, ...args: Args): NodeJS.Timeout
declare function setTimeout(callback: (value: void) => void, delay?: number): NodeJS.Timeout
/** Calls a function every \`delay\` milliseconds. */
declare function setInterval<Args extends any[]>(callback: (...args: Args) => void, delay?: number, ...args: Args): NodeJS.Timeout
declare function setInterval(callback: (value: void) => void, delay?: number): NodeJS.Timeout
/** Calls a function as soon as the current event has been handled. */
declare function setImmediate<Args extends any[]>(callback: (...args: Args) => void, ...args: Args): NodeJS.Immediate
declare function setImmediate(callback: (value: void) => void): NodeJS.Immediate
declare function clearTimeout(timer?: NodeJS.Timeout | string | number): void
declare function clearInterval(timer?: NodeJS.Timeout | string | number): void
declare function clearImmediate(immediate?: NodeJS.Immediate): void

interface Console {
  /** Sends a value to yourself by mail. */
  email(value: unknown, subject?: string): Promise<void>
}

/** What a val of type interval is called with. */
interface Interval {
  /** When the previous run began; undefined in the first run. */
  lastRunAt: Date | undefined
  /** When this run was due. */
  scheduledAt: Date
}
/** What a val of type email is called with. */
interface Email {
  /**
   * The sender, such as "Ada <ada@example.com>". Any sender can write anything here: see \`auth\`.
   */
  from: string
  to: string[]
  cc?: string[]
  bcc?: string[]
  replyTo?: string[]
  subject?: string
  text?: string
  html?: string
  attachments: File[]
  /** By name in lower case; a list if a header occurs several times. */
  headers: Record<string, string | string[]>
  /** The address that the mail was sent to, with its tag. */
  recipient: string
  /** The sender of the envelope; empty for a bounce. */
  envelopeFrom: string
  date?: Date
  messageId?: string
  inReplyTo?: string
  references?: string
  /** The checks of the sender, as RFC 8601 names their results. */
  auth: {
    spf: string
    dkim: string
    dmarc: string
    /** Whether SPF or DKIM proves that the domain in \`from\` has sent the mail. */
    isFromVerified: boolean
  }
}

declare var document: any
declare var history: any
declare function requestAnimationFrame(callback: (time: number) => void): number
declare function cancelAnimationFrame(handle: number): void
${[
  "Document",
  "DocumentFragment",
  "Element",
  "FileList",
  "HTMLButtonElement",
  "HTMLCanvasElement",
  "HTMLDivElement",
  "HTMLElement",
]
  .concat([
    "HTMLFormElement",
    "HTMLImageElement",
    "HTMLInputElement",
    "HTMLSelectElement",
    "HTMLTextAreaElement",
    "InputEvent",
  ])
  .concat([
    "KeyboardEvent",
    "MouseEvent",
    "Node",
    "NodeList",
    "PointerEvent",
    "SVGElement",
    "SubmitEvent",
  ])
  .map((name) => `declare var ${name}: any\ntype ${name} = any`)
  .join("\n")}
`

/** The globals of Node that a val has, until the types of Node's modules are loaded. */
export const nodeGlobals = `
declare namespace NodeJS {
  interface Timer {
    ref(): this
    unref(): this
    hasRef(): boolean
    refresh(): this
    [Symbol.toPrimitive](): number
  }
  interface Timeout extends Timer {
    close(): this
    [Symbol.dispose](): void
  }
  interface Immediate {
    ref(): this
    unref(): this
    hasRef(): boolean
    [Symbol.dispose](): void
  }
}
declare var process: {
  /** The environment variables. A change lasts as long as the process. */
  env: Record<string, string | undefined>
  [name: string]: any
}
declare var Buffer: any
type Buffer = any
declare var global: typeof globalThis
`
