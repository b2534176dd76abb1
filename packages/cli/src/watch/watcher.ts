import { type FSWatcher, watch } from "node:fs"
import type { Client } from "@hamlet/contract/client"
import { limits } from "../limits.ts"
import { isTemporary } from "../runs/run-watcher.ts"
import { createRemoteVals, type RemoteVals } from "./remote-vals.ts"
import { createScanner, type Scan } from "./scan-folder.ts"
import { listKnownPaths, type SyncDeps, type SyncResult, syncFolder } from "./sync-folder.ts"

/** How many races in a row before the watcher pauses. */
const racesMax = 3

/** Dependencies of a folder watcher. */
export interface FolderWatcherDeps extends Omit<SyncDeps, "owner" | "isStopping"> {
  readonly client: Client
  /** Gets the id of the signed-in user. */
  getOwner(): Promise<string>
  /** Prints a note for the user. */
  note(text: string): void
  readonly settleMs?: number
}

/**
 * Keeps a folder and the vals on a server in sync.
 *
 *     check ──▶ no changes ──▶ wait for a file event or the next poll ──▶ check
 *       └─────▶ synchronise ──▶ wait
 *       └─────▶ server unavailable ──▶ wait, longer each time ──▶ check
 */
export class FolderWatcher {
  readonly #deps: FolderWatcherDeps
  readonly #remote: ReturnType<typeof createRemoteVals>
  readonly #scanner: ReturnType<typeof createScanner>
  readonly #settleMs: number
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

  constructor(deps: FolderWatcherDeps) {
    this.#deps = deps
    this.#settleMs = deps.settleMs ?? limits.watchSettleMs
    this.#remote = createRemoteVals(deps.client)
    this.#scanner = createScanner(deps.folder, this.#settleMs)
  }

  /** Synchronises until both sides agree, then stops. */
  async once(): Promise<SyncResult> {
    const synced = this.#syncOnce()
    this.#running = synced
    return synced
  }

  async #syncOnce(): Promise<SyncResult> {
    let total: SyncResult = { hasActed: false, isRaced: false, hasConflict: false, exit: undefined }
    for (let round = 1; ; round++) {
      const { hasActed, isRaced, hasConflict, exit } = await this.#sync(
        await this.#scanAtRest(round === 1 || total.isRaced),
      )
      total = {
        hasActed: total.hasActed || hasActed,
        isRaced,
        hasConflict: total.hasConflict || hasConflict,
        exit: total.exit ?? exit,
      }
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
        if (this.#isOffline) this.#deps.note("The server responds again")
        this.#isOffline = false
        this.#offlineMs = 0
      } catch (error) {
        if (!isTemporary(error)) throw error
        if (!this.#isOffline) this.#deps.note(`${(error as Error).message}; retrying`)
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
    const isNew =
      Date.now() - this.#listedMs >= limits.watchPollMs / 2 && (await this.#listVals()).isNew
    if (!isNew && !isDue) return false
    this.#isTouched = false
    this.#hasEvent = false
    const scan = this.#scanner.scan(listKnownPaths(this.#deps))
    const mark = toMark(scan)
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
    const owner = await this.#deps.getOwner()
    return syncFolder(
      { ...this.#deps, owner, isStopping: () => this.#isStopping },
      scan,
      await this.#listVals(),
    )
  }

  async #listVals(): Promise<RemoteVals> {
    const listed = await this.#remote.list()
    this.#listedMs = Date.now()
    return listed
  }

  /**
   * Scans until the folder has settled, or a time limit; does not wait for files that an earlier
   * round wrote.
   */
  async #scanAtRest(isPatient: boolean): Promise<Scan> {
    const deadlineMs = Date.now() + limits.watchSettleMsMax
    for (;;) {
      const scan = this.#scanner.scan(listKnownPaths(this.#deps))
      if (!scan.isUnsettled || !isPatient || Date.now() >= deadlineMs || this.#isStopping)
        return scan
      await Bun.sleep(this.#settleMs)
    }
  }

  /** If file events are not available, the folder is still rescanned at intervals. */
  #listen(): FSWatcher | undefined {
    try {
      const events = watch(this.#deps.folder, { recursive: true }, (_kind, path) => {
        if (path?.startsWith(".hamlet")) return
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
      this.#isOffline ? this.#offlineMs : isSoon ? this.#settleMs : limits.watchPollMs,
    )
    let soon: ReturnType<typeof setTimeout> | undefined
    this.#wake = () => {
      if (this.#isStopping) return resolve()
      if (!this.#isOffline && !isSoon) soon ??= setTimeout(resolve, this.#settleMs)
    }
    await promise
    clearTimeout(timer)
    clearTimeout(soon)
    this.#wake = () => {}
  }
}

/** A hash of the scan that changes when anything in the folder does. */
function toMark({ files, blocked, missing, readmes }: Scan): string {
  const seen = [...files.values()].map(({ path, hash }) => `${path} ${hash}`)
  const texts = [...readmes].map(([path, { hash, problem }]) => `${path} ${hash} ${problem}`)
  return Bun.hash(
    [...seen, "blocked", ...[...blocked].flat(), "missing", ...missing, "readmes", ...texts].join(
      "\n",
    ),
  ).toString(36)
}
