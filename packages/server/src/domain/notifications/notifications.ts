import type { NotificationType } from "@hamlet/contract"
import type { Caller } from "../access.ts"
import type { Clock } from "../clock.ts"
import type { Page, PageRequest } from "../paging.ts"

export type { NotificationType }

/** Something that happened to a val of the user, as it is now. */
export interface Notification {
  readonly id: string
  readonly type: NotificationType
  readonly createdAt: number
  readonly readAt: number | null
  readonly val: NamedVal
  /** The file of a schedule, and its branch; null for other types, and when it is gone. */
  readonly file: { readonly id: string; readonly path: string } | null
  readonly branch: { readonly id: string; readonly name: string } | null
  /** Who did it; null for a schedule. */
  readonly user: Person | null
  readonly comment: { readonly id: string; readonly text: string } | null
  /** The val that imports the user's val, or is a fork of it. */
  readonly otherVal: NamedVal | null
}

/** A val with its address. */
export interface NamedVal {
  readonly id: string
  readonly name: string
  readonly author: Person
}

/** A user with a name. */
export interface Person {
  readonly id: string
  readonly username: string
}

/**
 * Reads notifications. They are written in the transaction of what they are about. One about a val
 * that the user may no longer see is neither listed nor counted.
 */
export interface NotificationStore {
  /** Newest first. */
  list(userId: string, page: PageRequest): Promise<Page<Notification>>
  countUnread(userId: string): Promise<number>
  /** All of them without ids. */
  markRead(userId: string, ids: readonly string[] | undefined, at: number): Promise<void>
  /** The types that the user does not want. */
  listMuted(userId: string): Promise<readonly NotificationType[]>
  mute(userId: string, types: readonly NotificationType[]): Promise<void>
}

/** The rules of notifications. */
export type Notifications = ReturnType<typeof createNotifications>

/** Creates the rules of notifications, which concern those of the caller. */
export function createNotifications(store: NotificationStore, { now }: Pick<Clock, "now">) {
  return {
    list: (caller: Caller, page: PageRequest) => store.list(caller.userId, page),
    countUnread: (caller: Caller) => store.countUnread(caller.userId),
    /** All of them without ids. */
    markRead: (caller: Caller, ids: readonly string[] | undefined) =>
      store.markRead(caller.userId, ids, now()),
    listMuted: (caller: Caller) => store.listMuted(caller.userId),
    /** Returns the types that are muted from now on. */
    async mute(caller: Caller, types: readonly NotificationType[]) {
      const muted = [...new Set(types)]
      await store.mute(caller.userId, muted)
      return muted
    },
  }
}
