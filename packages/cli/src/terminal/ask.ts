import { CliError } from "../cli-error.ts"

/** Keys with a meaning while hidden text is typed. */
const keys = {
  enter: ["\r", "\n"],
  end: "\x04",
  interrupt: "\x03",
  erase: ["\x7f", "\b"],
  eraseAll: "\x15",
}

/** Whether the user can be prompted. */
export function canAsk(): boolean {
  return process.stdin.isTTY === true && process.stderr.isTTY === true
}

/** Asks a yes/no question; anything but yes is no. */
export async function askYes(question: string): Promise<boolean> {
  process.stderr.write(`${question} [y/N] `)
  const answer = await new Promise<string>((resolve) => {
    process.stdin.once("data", (data) => resolve(String(data)))
    process.stdin.once("end", () => resolve(""))
  })
  process.stdin.pause()
  return /^\s*y(es)?\s*$/i.test(answer)
}

/** Prompts for hidden text. Undefined if the signal aborts first. */
export async function askHidden(question: string): Promise<string>
export async function askHidden(question: string, signal: AbortSignal): Promise<string | undefined>
export async function askHidden(
  question: string,
  signal?: AbortSignal,
): Promise<string | undefined> {
  // Before the prompt: text pasted at once would be echoed.
  process.stdin.setRawMode(true)
  process.stderr.write(question)
  try {
    return await readHidden(signal)
  } finally {
    process.stdin.setRawMode(false)
    process.stdin.pause()
    process.stderr.write("\n")
  }
}

function readHidden(signal: AbortSignal | undefined): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    let typed = ""
    const onData = (data: Buffer) => {
      for (const key of data.toString("utf8")) {
        if (key === keys.interrupt) return settle(() => reject(new CliError("interrupted", "")))
        if (keys.enter.includes(key) || key === keys.end) return settle(() => resolve(typed))
        if (key === keys.eraseAll) typed = ""
        else if (keys.erase.includes(key)) typed = [...typed].slice(0, -1).join("")
        else typed += key
      }
    }
    const onEnd = () => settle(() => resolve(typed))
    const onAbort = () => settle(() => resolve(undefined))
    const settle = (finish: () => void) => {
      signal?.removeEventListener("abort", onAbort)
      process.stdin.off("data", onData)
      process.stdin.off("end", onEnd)
      finish()
    }
    process.stdin.on("data", onData)
    process.stdin.on("end", onEnd)
    signal?.addEventListener("abort", onAbort)
    if (signal?.aborted) onAbort()
  })
}
