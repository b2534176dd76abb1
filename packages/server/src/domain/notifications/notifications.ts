import type { NotificationType, notification } from "@hamlet/contract"
import type { Page, PageRequest } from "@hamlet/database/page"
import type { Caller } from "../access/caller.ts"
import type { Clock } from "../clock.ts"
import type { Stored } from "../records/stored.ts"

export type { NotificationType }

/** Something that happened to a val of the user, as it is now: a file that is gone is null. */
export type Notification = Stored<typeof notification>

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
    list: (caller: Caller, page: PageRequest) => store.list(caller.ownerId, page),
    countUnread: (caller: Caller) => store.countUnread(caller.ownerId),
    /** All of them without ids. */
    markRead: (caller: Caller, ids: readonly string[] | undefined) =>
      store.markRead(caller.ownerId, ids, now()),
    listMuted: (caller: Caller) => store.listMuted(caller.ownerId),
    /** Returns the types that are muted from now on. */
    async mute(caller: Caller, types: readonly NotificationType[]) {
      const muted = [...new Set(types)]
      await store.mute(caller.ownerId, muted)
      return muted
    },
  }
}
