import { readdirSync, readFileSync } from "node:fs"

const sampleMs = 100
const pageMb = 4_096 / 1_048_576

/** The memory of all processes that a process has started, directly or not. */
export class MemoryMeter {
  readonly #pid: number
  #peakMb = 0

  constructor(pid: number) {
    this.#pid = pid
    setInterval(() => this.#sample(), sampleMs).unref()
  }

  /** Forgets the peak, and gives what they have now. */
  restart(): number {
    this.#peakMb = 0
    return this.#sample()
  }

  read(): { readonly peakMb: number; readonly nowMb: number } {
    const nowMb = this.#sample()
    return { peakMb: this.#peakMb, nowMb }
  }

  #sample(): number {
    const mb = measureTree(this.#pid)
    this.#peakMb = Math.max(this.#peakMb, mb)
    return mb
  }
}

function measureTree(pid: number): number {
  return listChildren(pid).reduce((sum, child) => sum + readMb(child) + measureTree(child), 0)
}

function listChildren(pid: number): readonly number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((task) =>
      readFileSync(`/proc/${pid}/task/${task}/children`, "utf8")
        .split(" ")
        .filter(Boolean)
        .map(Number),
    )
  } catch {
    // The process has ended.
    return []
  }
}

/** What is its own: pages of programs are shared by many processes. */
function readMb(pid: number): number {
  try {
    const [, resident = 0, shared = 0] = readFileSync(`/proc/${pid}/statm`, "utf8")
      .split(" ")
      .map(Number)
    return (resident - shared) * pageMb
  } catch {
    return 0
  }
}
