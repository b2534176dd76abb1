import type { EndedRun, FinalState, Operation, Period } from "./history.ts"

type Of<Kind extends Operation["kind"]> = Extract<Operation, { readonly kind: Kind }>

/** How long a run may wait and run, the time without a database or a node aside. */
export const stuckMsMax = 30_000
const finalStatuses = new Set(["succeeded", "failed", "timed_out", "cancelled", "crashed"])

/** Describes each contradiction between what clients saw, and between that and the end. */
export function checkHistory(operations: readonly Operation[], end: FinalState): readonly string[] {
  return [
    ...checkRegisters(operations, end),
    ...checkItems(operations, end),
    ...checkRuns(operations, end),
    ...checkDueTimes(end),
  ]
}

/**
 * A val is a register whose writes have the order of their versions, so the operations are
 * linearizable exactly if no operation sees or makes a version that contradicts one which ended
 * before it began.
 */
function checkRegisters(operations: readonly Operation[], end: FinalState): string[] {
  return [...end.versions].flatMap(([val, values]) => {
    const ofVal = operations.filter(
      (operation): operation is Of<"save" | "read"> =>
        (operation.kind === "save" || operation.kind === "read") && operation.val === val,
    )
    return checkRegister(val, ofVal, values)
  })
}

function checkRegister(
  val: string,
  operations: readonly Of<"save" | "read">[],
  values: readonly string[],
): string[] {
  const problems: string[] = []
  const report = (problem: string) => problems.push(`${val}: ${problem}`)
  const versions = new Map(values.map((value, index) => [value, index + 1]))
  const savedMs = new Map<string, number>(values.slice(0, 1).map((first) => [first, 0]))
  for (const operation of operations) {
    if (operation.kind !== "save") continue
    const { value, version, invokedMs } = operation
    savedMs.set(value, invokedMs)
    if (version !== undefined && versions.get(value) !== version)
      report(`the save of ${value} as version ${version} is lost`)
  }
  for (const [index, value] of values.entries()) {
    if (!savedMs.has(value)) report(`version ${index + 1} is ${value}, which was never saved`)
    if (versions.get(value) !== index + 1) report(`${value} was saved twice`)
  }
  const ended = toFloors(operations.flatMap((operation) => toSeen(operation, versions)))
  for (const operation of operations) {
    const { kind, value, invokedMs, respondedMs } = operation
    const version = versions.get(value)
    if (version === undefined) {
      if (kind === "read") report(`${value} was read and is lost`)
      continue
    }
    const before = ended(invokedMs)
    if (kind === "save" && version <= before)
      report(`the save of ${value} is version ${version} although ${before} was known before`)
    if (kind === "read" && version < before)
      report(`a stale read of version ${version} although ${before} was known before`)
    if (kind === "read" && respondedMs < (savedMs.get(value) ?? 0))
      report(`${value} was read before it was saved`)
  }
  return problems
}

/** The version that a client knows when the operation has ended. */
function toSeen(
  operation: Of<"save" | "read">,
  versions: ReadonlyMap<string, number>,
): { readonly ms: number; readonly version: number }[] {
  const { kind, value, respondedMs: ms } = operation
  const version = kind === "save" ? operation.version : versions.get(value)
  return version === undefined ? [] : [{ ms, version }]
}

/** Gives the newest version that was known before a moment. */
function toFloors(
  seen: readonly { readonly ms: number; readonly version: number }[],
): (ms: number) => number {
  const sorted = seen.toSorted((one, other) => one.ms - other.ms)
  let newest = 0
  const floors = sorted.map(({ version }) => (newest = Math.max(newest, version)))
  return (ms) => {
    let [low, high] = [0, sorted.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((sorted[middle]?.ms ?? 0) < ms) low = middle + 1
      else high = middle
    }
    return low === 0 ? 0 : (floors[low - 1] ?? 0)
  }
}

function checkItems(operations: readonly Operation[], end: FinalState): string[] {
  const problems: string[] = []
  const counts = countEach(end.items)
  const putMs = new Map<string, number>()
  /** Since when a client has known that the item is there. */
  const knownMs = new Map<string, number>()
  const know = (item: string, ms: number) =>
    knownMs.set(item, Math.min(ms, knownMs.get(item) ?? Number.POSITIVE_INFINITY))
  for (const operation of operations) {
    if (operation.kind === "put") {
      putMs.set(operation.item, operation.invokedMs)
      if (operation.isAcknowledged) know(operation.item, operation.respondedMs)
    }
    if (operation.kind === "get" && operation.isFound) know(operation.item, operation.respondedMs)
  }
  for (const item of knownMs.keys()) if (!counts.has(item)) problems.push(`${item} is lost`)
  for (const [item, count] of counts) {
    if (count > 1) problems.push(`${item} is there ${count} times`)
    if (!putMs.has(item)) problems.push(`${item} is there and was never put`)
  }
  for (const operation of operations) {
    if (operation.kind !== "get") continue
    const { item, isFound, invokedMs, respondedMs } = operation
    if (!isFound && invokedMs > (knownMs.get(item) ?? Number.POSITIVE_INFINITY))
      problems.push(`a stale read of ${item}: it was known before`)
    if (isFound && respondedMs < (putMs.get(item) ?? Number.POSITIVE_INFINITY))
      problems.push(`${item} was found before it was put`)
  }
  return problems
}

function checkRuns(operations: readonly Operation[], end: FinalState): string[] {
  const runs = new Map(end.runs.map((run) => [run.id, run]))
  const problems = [...end.runs, ...end.scheduledRuns].flatMap((run) => checkRun(run, end))
  const words = new Set<string>()
  for (const operation of operations) {
    if (operation.kind !== "enqueue") continue
    const { word, run } = operation
    words.add(word)
    if (run !== undefined && runs.get(run)?.word !== word)
      problems.push(`run ${run} of ${word} is lost`)
  }
  for (const [word, count] of countEach(end.runs.map((run) => run.word))) {
    if (count > 1) problems.push(`${word} has ${count} runs`)
    if (!words.has(word)) problems.push(`${word} has a run and was never queued`)
  }
  const recorded = new Set(end.runs.map(({ word }) => word))
  for (const word of end.effects.keys())
    if (words.has(word) && !recorded.has(word)) problems.push(`${word} has run without a record`)
  return [...problems, ...checkLooks(operations, runs)]
}

function checkRun(run: EndedRun, { effects, outages }: FinalState): string[] {
  const { word, status, attempt, endedMs } = run
  if (!finalStatuses.has(status) || endedMs === undefined)
    return [`the run of ${word} is ${status}`]
  const count = effects.get(word) ?? 0
  const problems: string[] = []
  if (count > attempt) problems.push(`${word} has run ${count} times in ${attempt} attempts`)
  if (status === "succeeded" && count === 0) problems.push(`${word} succeeded and has not run`)
  const openMs = toOpenMs(run, outages)
  if (openMs > stuckMsMax * attempt)
    problems.push(`${word} was stuck for ${openMs} ms (${status}, attempt ${attempt})`)
  return problems
}

/** How long a run that has ended was open, the time without a database or a node aside. */
export function toOpenMs({ queuedMs, endedMs = queuedMs }: EndedRun, outages: readonly Period[]) {
  const awayMs = outages
    .map(({ fromMs, toMs }) => Math.min(toMs, endedMs) - Math.max(fromMs, queuedMs))
    .reduce((sum, ms) => sum + Math.max(0, ms), 0)
  return Math.round(endedMs - queuedMs - awayMs)
}

/** A run that has ended never changes again. */
function checkLooks(
  operations: readonly Operation[],
  runs: ReadonlyMap<string, EndedRun>,
): string[] {
  return operations.flatMap((operation) => {
    if (operation.kind !== "look" || !finalStatuses.has(operation.status)) return []
    const { run, status } = operation
    const last = runs.get(run)
    if (last?.status === status) return []
    return [`run ${run} was ${status} and is ${last?.status ?? "lost"}`]
  })
}

function checkDueTimes({ dueTimes, scheduledRuns }: FinalState): string[] {
  const counts = countEach(scheduledRuns.map(({ word }) => word))
  const due = new Set(dueTimes)
  return [
    ...dueTimes.flatMap((time) => {
      const count = counts.get(time) ?? 0
      return count === 1 ? [] : [`${time} has ${count} runs`]
    }),
    ...[...counts.keys()].filter((time) => !due.has(time)).map((time) => `${time} was not due`),
  ]
}

function countEach(texts: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1)
  return counts
}
