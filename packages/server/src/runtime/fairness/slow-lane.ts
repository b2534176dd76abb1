import { readdirSync } from "node:fs"
import { openCLibrary } from "./c-library.ts"

/** One bit for each core; room for as many as the kernel knows on nearly all machines. */
const maskBytes = 128
/**
 * Threads that are born while others are moved inherit the place of their parents; another look
 * finds them.
 */
const looksMax = 3

const signature = { args: ["i32", "u64", "ptr"], returns: "i32" } as const
const kernel = openCLibrary({ sched_getaffinity: signature, sched_setaffinity: signature })

const masks = readMasks()

/** Whether there is a slow lane: not where there is one core, or no say in who works where. */
export const hasSlowLane = masks !== undefined

/**
 * Keeps processes to half of the cores, or no longer. Everything is there that may take long:
 * loops, bombs, and the start of processes that nobody waits for yet. On the others there is room
 * for whoever is quick, however much is going on here. A low priority alone would not do: whoever
 * wakes up on a core on which somebody else is working waits for the next tick of the scheduler,
 * which is longer than an answer takes.
 */
export function setSlowLane(pids: readonly number[], isSlow: boolean): void {
  if (masks) for (const pid of pids) place(pid, isSlow ? masks.slow : masks.all)
}

/** All threads of a process. */
function place(pid: number, mask: Uint8Array): void {
  const placed = new Set<number>()
  for (let look = 0; look < looksMax; look++) {
    const threads = listThreads(pid).filter((thread) => !placed.has(thread))
    if (threads.length === 0) return
    for (const thread of threads) {
      placed.add(thread)
      kernel?.sched_setaffinity(thread, maskBytes, mask)
    }
  }
}

function readMasks(): { readonly all: Uint8Array; readonly slow: Uint8Array } | undefined {
  const all = new Uint8Array(maskBytes)
  if (kernel?.sched_getaffinity(process.pid, maskBytes, all) !== 0) return undefined
  const cores = Array.from({ length: maskBytes * 8 }, (_, core) => core).filter((core) =>
    has(all, core),
  )
  if (cores.length < 2) return undefined
  const slow = new Uint8Array(maskBytes)
  for (const core of cores.slice(0, cores.length >> 1))
    slow[core >> 3] = (slow[core >> 3] ?? 0) | (1 << (core & 7))
  return { all, slow }
}

function has(mask: Uint8Array, core: number): boolean {
  return ((mask[core >> 3] ?? 0) & (1 << (core & 7))) !== 0
}

function listThreads(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).map(Number)
  } catch {
    // Has ended.
    return []
  }
}
