/**
 * Attributes the CPU time of one `bun test` to its test files.
 * @param {() => number | undefined} read the CPU seconds of that process so far
 */
export function createCpuMeter(read) {
  /** @type {Map<string, number>} */
  const secondsByFile = new Map()
  let before = 0
  return {
    secondsByFile,
    /**
     * Adds the time since the last call to a file. Time before the first file belongs to none.
     * @param {string} file
     */
    addTo(file) {
      const now = read()
      if (now === undefined) return
      if (file !== "") secondsByFile.set(file, (secondsByFile.get(file) ?? 0) + now - before)
      before = now
    },
  }
}

/** How many files the end of a run names, unless it was asked for all. */
const filesShown = 10

/** A child counts from its end, so that some of the dearest files are only those that run last. */
const note = "a server or browser that files share counts for the last of them"

/**
 * The lines about the CPU time at the end of a run.
 * @param {number | undefined} secondsInAll
 * @param {ReadonlyMap<string, number>} secondsByFile
 * @param {boolean} [isDetailed] with every file, and the sum of each folder
 * @returns {string[]}
 */
export function toCpuLines(secondsInAll, secondsByFile, isDetailed = false) {
  if (secondsInAll === undefined || secondsByFile.size < 2) return []
  const total = `CPU time: ${toMinutes(secondsInAll)}`
  const files = dearestFirst(secondsByFile)
  if (!isDetailed)
    return [
      `${total}; the dearest of ${secondsByFile.size} test files (${note}):`,
      ...files.slice(0, filesShown),
    ]
  const folders = dearestFirst(addByFolder(secondsByFile))
  return [`${total}; by folder:`, ...folders, `by file (${note}):`, ...files]
}

/** @param {ReadonlyMap<string, number>} secondsByPath */
function dearestFirst(secondsByPath) {
  return [...secondsByPath]
    .sort(([, a], [, b]) => b - a)
    .map(([path, seconds]) => `${seconds.toFixed(1).padStart(7)} s  ${path}`)
}

/** @param {ReadonlyMap<string, number>} secondsByFile */
function addByFolder(secondsByFile) {
  /** @type {Map<string, number>} */
  const sums = new Map()
  for (const [file, seconds] of secondsByFile) {
    const folder = file.slice(0, file.lastIndexOf("/") + 1)
    sums.set(folder, (sums.get(folder) ?? 0) + seconds)
  }
  return sums
}

/** @param {number} seconds */
function toMinutes(seconds) {
  const rounded = Math.round(seconds)
  return `${Math.floor(rounded / 60)} min ${rounded % 60} s`
}
