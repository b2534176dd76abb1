import { z } from "zod"
import { limits } from "../../limits.ts"
import { id, time } from "../fields.ts"
import { list } from "../lengths.ts"
import { author, branchMention, fileMention } from "../records.ts"

/** What a user is told about a val of theirs. */
export const notificationType = z.enum([
  "comment",
  "like",
  "reference",
  "fork",
  "schedule.failing",
  "schedule.paused",
])

/** What a user is told about a val of theirs. */
export type NotificationType = z.infer<typeof notificationType>

const namedVal = z.object({
  id: id.describe("The id of the val"),
  name: z.string().describe("The name of the val"),
  author: author.describe("The owner of the val"),
})

/** Something that happened to a val of the user. */
export const notification = z
  .object({
    id,
    type: notificationType.describe("What happened"),
    createdAt: time,
    readAt: time.nullable().describe("When it was marked as read; null if it is unread"),
    val: namedVal.describe("The val of the user that it is about"),
    file: fileMention.nullable().describe("The file of a schedule; null for other types"),
    branch: branchMention.nullable().describe("The branch of that file; null for other types"),
    user: author.nullable().describe("The user who did it; null for a schedule"),
    comment: z
      .object({
        id: id.describe("The id of the comment"),
        text: z.string().describe("The beginning of the comment"),
      })
      .nullable()
      .describe("The comment; null for other types"),
    otherVal: namedVal
      .nullable()
      .describe("The val that imports the val, or is a fork of it; null for other types"),
  })
  .meta({ id: "Notification" })

/** How many notifications are unread. */
export const notificationCount = z
  .object({ unread: z.int().min(0).describe("How many notifications are unread") })
  .meta({ id: "NotificationCount" })

/** The body to mark notifications as read. */
export const readNotificationsBody = z.object({
  ids: list(id, limits.pageItemsMax, 1)
    .describe("The ids of the notifications; by default all")
    .optional(),
})

/** The body to choose which notifications the user does not want. */
export const putNotificationSettingsBody = z.object({
  muted: list(notificationType, notificationType.options.length).describe(
    "The types of notifications that are not wanted",
  ),
})

/** Which notifications the user does not want. */
export const notificationSettings = putNotificationSettingsBody
  .clone()
  .meta({ id: "NotificationSettings" })
