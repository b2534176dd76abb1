import { type FSWatcher, watch } from "node:fs"
import { limits } from "../limits.ts"
import { isTemporary } from "../runs/run-watcher.ts"
import { addResults, nothingDone, type SyncResult } from "./sync-result.ts"

/** How many races in a row before the watcher pauses. */
const racesMax = 3

/** A scan of a folder, with a mark that changes when anything in the folder does. */
export interface MarkedScan {
  readonly mark: string
  /** Whether files are still being written, so that another scan is needed soon. */
  readonly isUnsettled: boolean
}

/** A folder that can be synchronised with a server: that of an account, or of one val. */
export interface SyncedFolder<Scan extends MarkedScan> {
  readonly folder: string
  readonly settleMs: number
  /** Asks the server. Returns whether anything has changed there since the last call. */
  poll(): Promise<boolean>
  scan(): Scan
  /** Does one round. */
  sync(scan: Scan, isStopping: () => boolean): Promise<SyncResult>
  /** Prints a note for the user. */
  note(text: string): void
}

/**
 * Keeps a folder and the vals on a server in sync.
 *
 *     check ──▶ no changes ──▶ wait for a file event or the next poll ──▶ check
 *       └─────▶ synchronise ──▶ wait
 *       └─────▶ server unavailable ──▶ wait, longer each time ──▶ check
 */
export class FolderWatcher<Scan extends MarkedScan = MarkedScan> {
  readonly #folder: SyncedFolder<Scan>
  #isStopping = false
  /** Whether there is more to do without a new change. */
  #isTouched = true
  /** Whether a file event arrived since the last scan. */
  #hasEvent = false
  #isOffline = false
  #offlineMs = 0
  #listedMs = 0
  #lastMark = ""
  #races = 0
  #wake = () => {}
  #running: Promise<unknown> = Promise.resolve()

  constructor(folder: SyncedFolder<Scan>) {
    this.#folder = folder
  }

  /** Synchronises until both sides agree, then stops. */
  async once(): Promise<SyncResult> {
    const synced = this.#syncOnce()
    this.#running = synced
    return synced
  }

  async #syncOnce(): Promise<SyncResult> {
    let total = nothingDone
    for (let round = 1; ; round++) {
      const isPatient = round === 1 || total.isRaced || total.hasMerged
      const result = await this.#sync(await this.#scanAtRest(isPatient))
      const { hasActed, isRaced } = result
      total = { ...addResults(total, result), isRaced }
      if (!(hasActed || isRaced) || round === limits.watchRoundsMax || this.#isStopping)
        return total
    }
  }

  /** Watches until it is stopped or fails. */
  async run(): Promise<void> {
    const events = this.#listen()
    this.#running = this.#loop()
    try {
      await this.#running
    } finally {
      events?.close()
    }
  }

  /** Finishes the current step and stops. */
  async stop(): Promise<void> {
    this.#isStopping = true
    this.#wake()
    await this.#running.catch(() => {})
  }

  async #loop(): Promise<void> {
    let scannedMs = 0
    while (!this.#isStopping) {
      const isDue =
        this.#isTouched || this.#hasEvent || Date.now() - scannedMs >= limits.watchRescanMs
      try {
        if (await this.#step(isDue)) scannedMs = Date.now()
        if (this.#isOffline) this.#folder.note("The server responds again")
        this.#isOffline = false
        this.#offlineMs = 0
      } catch (error) {
        if (!isTemporary(error)) throw error
        if (!this.#isOffline) this.#folder.note(`${(error as Error).message}; retrying`)
        this.#isOffline = true
        this.#isTouched = true
        this.#offlineMs = Math.min(limits.watchAwayMsMax, this.#offlineMs * 2 || limits.watchPollMs)
      }
      if (!this.#isStopping) await this.#wait()
    }
  }

  /** Returns whether the folder was scanned. */
  async #step(isDue: boolean): Promise<boolean> {
    // While files change, the folder is scanned more often than the server is asked.
    const isNew = Date.now() - this.#listedMs >= limits.watchPollMs / 2 && (await this.#poll())
    if (!isNew && !isDue) return false
    this.#isTouched = false
    this.#hasEvent = false
    const scan = this.#folder.scan()
    const { mark } = scan
    if (isNew || mark !== this.#lastMark) {
      // Not done until it succeeds.
      this.#lastMark = ""
      this.#isTouched = true
      const { hasActed, isRaced } = await this.#sync(scan)
      // A race is retried at once, but not forever.
      this.#races = isRaced ? this.#races + 1 : 0
      this.#isTouched = hasActed || (isRaced && this.#races <= racesMax)
      this.#lastMark = hasActed || isRaced ? "" : mark
    }
    this.#isTouched ||= scan.isUnsettled
    return true
  }

  async #sync(scan: Scan): Promise<SyncResult> {
    return this.#folder.sync(scan, () => this.#isStopping)
  }

  async #poll(): Promise<boolean> {
    const isNew = await this.#folder.poll()
    this.#listedMs = Date.now()
    return isNew
  }

  /**
   * Scans until the folder has settled, or a time limit; does not wait for files that an earlier
   * round only wrote.
   */
  async #scanAtRest(isPatient: boolean): Promise<Scan> {
    const deadlineMs = Date.now() + limits.watchSettleMsMax
    for (;;) {
      const scan = this.#folder.scan()
      if (!scan.isUnsettled || !isPatient || Date.now() >= deadlineMs || this.#isStopping)
        return scan
      await Bun.sleep(this.#folder.settleMs)
    }
  }

  /** If file events are not available, the folder is still rescanned at intervals. */
  #listen(): FSWatcher | undefined {
    try {
      const events = watch(this.#folder.folder, { recursive: true }, (_kind, path) => {
        // What this program writes itself, also in the folders of vals.
        if (path?.split(/[/\\]/).includes(".hamlet")) return
        this.#hasEvent = true
        this.#wake()
      })
      events.on("error", () => {})
      return events
    } catch {
      return undefined
    }
  }

  /** Waits until the next poll, or until shortly after a file event. */
  async #wait(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const isSoon = (this.#isTouched || this.#hasEvent) && !this.#isOffline
    const timer = setTimeout(
      resolve,
      this.#isOffline ? this.#offlineMs : isSoon ? this.#folder.settleMs : limits.watchPollMs,
    )
    let soon: ReturnType<typeof setTimeout> | undefined
    this.#wake = () => {
      if (this.#isStopping) return resolve()
      if (!this.#isOffline && !isSoon) soon ??= setTimeout(resolve, this.#folder.settleMs)
    }
    await promise
    clearTimeout(timer)
    clearTimeout(soon)
    this.#wake = () => {}
  }
}
