import { openCLibrary, tryList } from "@hamlet/kit"

/** One bit for each core: 1024 cores, the size of `cpu_set_t`. */
const maskBytes = 128
/** What starts while its parent is moved may be on the cores of before; another pass moves it. */
const passesMax = 3

const signature = { args: ["i32", "u64", "ptr"], returns: "i32" } as const
const kernel = openCLibrary({ sched_getaffinity: signature, sched_setaffinity: signature })

const masks = readMasks()

/** False on one core, and where the kernel does not let us choose the cores of a process. */
export const hasSlowLane = masks !== undefined

/**
 * Moves processes to the slow lane, which is half of the cores, or back to all cores. The slow lane
 * is for what may take long: loops, and the start of processes that no run waits for yet. The other
 * cores stay free for quick runs. A low priority alone is not enough: a thread that wakes up on a
 * core where another one runs waits for the next tick of the scheduler, which is longer than a
 * quick response takes.
 */
export function setSlowLane(listPids: () => readonly number[], isSlow: boolean): void {
  if (!masks) return
  const mask = isSlow ? masks.slow : masks.all
  moveAll(listPids, (pid) =>
    moveAll(
      () => tryList(`/proc/${pid}/task`).map(Number),
      (thread) => kernel?.sched_setaffinity(thread, maskBytes, mask),
    ),
  )
}

function moveAll(list: () => readonly number[], move: (id: number) => void): void {
  const moved = new Set<number>()
  for (let pass = 0; pass < passesMax; pass++) {
    const found = list().filter((id) => !moved.has(id))
    if (found.length === 0) return
    for (const id of found) {
      moved.add(id)
      move(id)
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
