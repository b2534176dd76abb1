/** What somebody has typed and not saved, and of which version it was begun. */
export interface Draft {
  readonly code: string
  readonly baseVersion: number
  readonly at: number
  /** The text it was begun from, where there are no versions to look it up in. */
  readonly base?: string | undefined
}

/** An unsaved text in one tab, kept where neither a reload nor a crash of the browser takes it. */
export interface DraftPlace {
  read(): Draft | undefined
  write(draft: Draft): void
  clear(): void
  /** Keeps a text that is in no editor any more, as if a tab had left it behind. */
  putAside(draft: Draft): void
  /**
   * Drafts that were put aside, or left behind by tabs that are not open any more, the newest
   * first.
   */
  findLeft(): Promise<readonly LeftDraft[]>
  /** Lets others know that this tab is gone. */
  stop(): void
}

/** A draft that is in no editor. */
export interface LeftDraft extends Draft {
  readonly isAside: boolean
  clear(): void
}

const prefix = "hamlet.draft."
const asideMark = "aside-"
const tabKey = "hamlet.tab"
/** A page that is reloaded gives its place free within this time; one that does not is open. */
const limits = { waitMsMax: 1_500 }

/**
 * The place for drafts of one text in this tab. Two tabs never share one: each would overwrite what
 * the other has.
 */
export function openDraftPlace(subject: string): DraftPlace {
  const begin = `${prefix}${subject}.`
  const tabId = readTabId()
  let key = begin + tabId
  let latest = readDraft(key)
  let isStopped = false
  // Absent over plain http from elsewhere.
  const { locks } = navigator
  let isOurs = locks === undefined
  const released = Promise.withResolvers<void>()
  const store = () => {
    if (isOurs) writeDraft(key, latest)
  }
  // Held for as long as the tab lives, so that other tabs can tell whose drafts were left behind.
  const hold = (signal?: AbortSignal) =>
    locks?.request(key, signal ? { signal } : {}, () => {
      isOurs = true
      store()
      return released.promise
    })
  hold(AbortSignal.timeout(limits.waitMsMax))?.catch(() => {
    if (isStopped) return
    // A tab that was duplicated has the name of its twin: from now on it has another one, the same
    // for all of its texts.
    const isRenamed = readTabId() !== tabId
    key = begin + (isRenamed ? readTabId() : writeTabId())
    hold()?.catch(() => {})
  })
  return {
    read: () => latest,
    write(draft) {
      latest = draft
      store()
    },
    clear() {
      latest = undefined
      store()
    },
    putAside: (draft) => writeDraft(begin + asideMark + toRandomId(), draft),
    findLeft: () => findLeft(begin, () => key),
    stop() {
      isStopped = true
      released.resolve()
    },
  }
}

/** For somebody who may not change the text. */
export const noDrafts: DraftPlace = {
  read: () => undefined,
  write: () => {},
  clear: () => {},
  putAside: () => {},
  findLeft: async () => [],
  stop: () => {},
}

async function findLeft(begin: string, toOwnKey: () => string): Promise<readonly LeftDraft[]> {
  const { held = [] } = (await navigator.locks?.query()) ?? {}
  const alive = new Set(held.map(({ name }) => name))
  const isAside = (key: string) => key.startsWith(begin + asideMark)
  // Without locks nobody knows which tabs are open.
  const isLeft = (key: string) => isAside(key) || (navigator.locks !== undefined && !alive.has(key))
  return Object.keys(localStorage)
    .filter((key) => key.startsWith(begin) && key !== toOwnKey() && isLeft(key))
    .flatMap((key) => {
      const draft = readDraft(key)
      return draft
        ? [{ ...draft, isAside: isAside(key), clear: () => writeDraft(key, undefined) }]
        : []
    })
    .sort((one, other) => other.at - one.at)
}

function readDraft(key: string): Draft | undefined {
  try {
    const { code, baseVersion, at, base } = JSON.parse(localStorage.getItem(key) ?? "{}")
    if (typeof code !== "string" || typeof baseVersion !== "number" || typeof at !== "number")
      return undefined
    return { code, baseVersion, at, base: typeof base === "string" ? base : undefined }
  } catch {
    return undefined
  }
}

/** A browser that keeps nothing for us is no reason to stop somebody from typing. */
function writeDraft(key: string, draft: Draft | undefined): void {
  try {
    if (draft) localStorage.setItem(key, JSON.stringify(draft))
    else localStorage.removeItem(key)
  } catch {
    // Full, or switched off.
  }
}

/** The same after a reload, another one in another tab. */
function readTabId(): string {
  try {
    return sessionStorage.getItem(tabKey) ?? writeTabId()
  } catch {
    return "only"
  }
}

function writeTabId(): string {
  const id = toRandomId()
  try {
    sessionStorage.setItem(tabKey, id)
  } catch {
    // The tab has this name until it is reloaded.
  }
  return id
}

function toRandomId(): string {
  return Math.random().toString(36).slice(2)
}
