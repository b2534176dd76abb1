import { route } from "../../route.ts"
import {
  notification,
  notificationCount,
  notificationSettings,
  putNotificationSettingsBody,
  readNotificationsBody,
} from "../../schemas/accounts/notifications.ts"
import { pageQuery } from "../../schemas/inputs.ts"
import { page } from "../../schemas/records.ts"

/** What the caller is told about their vals. */
export const notificationRoutes = {
  listNotifications: route("Notifications", "get /v1/me/notifications", {
    summary: "What happened to the caller's vals, newest first; the last 500 of 90 days",
    scope: "user:read",
    query: pageQuery,
    responses: { 200: page(notification) },
  }),
  countNotifications: route("Notifications", "get /v1/me/notifications/count", {
    summary: "How many of the caller's notifications are unread",
    scope: "user:read",
    responses: { 200: notificationCount },
  }),
  readNotifications: route("Notifications", "put /v1/me/notifications/read", {
    summary: "Mark notifications of the caller as read, all of them or some",
    scope: "user:write",
    body: readNotificationsBody,
    responses: { 204: null },
  }),
  getNotificationSettings: route("Notifications", "get /v1/me/notifications/settings", {
    summary: "Which notifications the caller has muted",
    scope: "user:read",
    responses: { 200: notificationSettings },
  }),
  putNotificationSettings: route("Notifications", "put /v1/me/notifications/settings", {
    summary: "Mute types of notifications; the list replaces the previous one",
    scope: "user:write",
    body: putNotificationSettingsBody,
    responses: { 200: notificationSettings },
  }),
}
