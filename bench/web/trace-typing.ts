import type { Browser, Page } from "playwright-core"

/** The frames of the browser's trace during typing. */
export interface Traced {
  /** From each frame to the next, in ms. */
  readonly frames: readonly number[]
  /**
   * The CPU time of the page's main thread for each frame, in ms: it does not depend on other load
   * of the machine.
   */
  readonly works: readonly number[]
}

export const keysTyped = 200
const keyEveryMs = 60
// The line contains what people type: words, auto-closed brackets, a list of completions that opens
// and closes, a new line.
const line = "document.getElementById(name) + list.map((x) => x.id);\n"

/** Types at the cursor. */
export async function traceTyping(browser: Browser, page: Page): Promise<Traced> {
  await page.evaluate(requestAllFrames)
  await browser.startTracing(page, {
    categories: ["devtools.timeline", "disabled-by-default-devtools.timeline"],
  })
  for (let key = 0; key < keysTyped; key++)
    await page.keyboard.type(line[key % line.length] ?? " ", { delay: keyEveryMs })
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString()) as {
    traceEvents: readonly TraceEvent[]
  }
  return toTraced(traceEvents)
}

/**
 * The CPU time of the page's worker for each of the calls, in ms. They are made one after the other,
 * and each has one task in the worker; other tasks are smaller.
 */
export async function traceWorker(
  browser: Browser,
  page: Page,
  count: number,
  call: (index: number) => Promise<unknown>,
): Promise<readonly number[]> {
  await browser.startTracing(page, {
    categories: ["devtools.timeline", "disabled-by-default-devtools.timeline"],
  })
  for (let index = 0; index < count; index++) await call(index)
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString()) as {
    traceEvents: readonly TraceEvent[]
  }
  const workers = traceEvents.filter(
    ({ name, args }) => name === "thread_name" && args.name === "DedicatedWorker thread",
  )
  return traceEvents
    .filter(
      ({ name, pid, tid }) =>
        name === "RunTask" && workers.some((worker) => worker.pid === pid && worker.tid === tid),
    )
    .map(({ tdur = 0 }) => tdur / 1_000)
    .toSorted((one, other) => other - one)
    .slice(0, count)
}

/**
 * Runs in the page: a browser draws no frame when nothing changes, and the next frame would look
 * late.
 */
function requestAllFrames(): void {
  const next = () => void requestAnimationFrame(next)
  next()
}

/** An event as Chromium writes it: times are in microseconds, and thread times are CPU times. */
interface TraceEvent {
  readonly name: string
  readonly pid: number
  readonly tid: number
  readonly ts: number
  readonly tdur?: number
  readonly args: { readonly name?: string; readonly data?: { readonly type?: string } }
}

function toTraced(events: readonly TraceEvent[]): Traced {
  const key = events.find(
    ({ name, args }) => name === "EventDispatch" && args.data?.type === "keydown",
  )
  const ours = events.filter(({ pid, tid }) => pid === key?.pid && tid === key.tid)
  const starts = ours
    .filter(({ name }) => name === "FireAnimationFrame")
    .map(({ ts }) => ts / 1_000)
  const tasks = ours.filter(({ name }) => name === "RunTask")
  const works = starts.slice(1).map(() => 0)
  for (const { ts, tdur = 0 } of tasks) {
    const frame = starts.findIndex(
      (start, index) => ts / 1_000 >= start && ts / 1_000 < (starts[index + 1] ?? 0),
    )
    if (frame !== -1) works[frame] = (works[frame] ?? 0) + tdur / 1_000
  }
  return { frames: starts.slice(1).map((start, index) => start - (starts[index] ?? start)), works }
}
