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
  listNotifications: route({
    method: "get",
    path: "/v1/me/notifications",
    tag: "Notifications",
    summary: "What happened to the caller's vals, newest first; the last 500 of 90 days",
    auth: "required",
    scope: "user:read",
    query: pageQuery,
    responses: { 200: page(notification) },
  }),
  countNotifications: route({
    method: "get",
    path: "/v1/me/notifications/count",
    tag: "Notifications",
    summary: "How many of the caller's notifications are unread",
    auth: "required",
    scope: "user:read",
    responses: { 200: notificationCount },
  }),
  readNotifications: route({
    method: "put",
    path: "/v1/me/notifications/read",
    tag: "Notifications",
    summary: "Mark notifications of the caller as read, all of them or some",
    auth: "required",
    scope: "user:write",
    body: readNotificationsBody,
    responses: { 204: null },
  }),
  getNotificationSettings: route({
    method: "get",
    path: "/v1/me/notifications/settings",
    tag: "Notifications",
    summary: "Which notifications the caller has muted",
    auth: "required",
    scope: "user:read",
    responses: { 200: notificationSettings },
  }),
  putNotificationSettings: route({
    method: "put",
    path: "/v1/me/notifications/settings",
    tag: "Notifications",
    summary: "Mute types of notifications; the list replaces the previous one",
    auth: "required",
    scope: "user:write",
    body: putNotificationSettingsBody,
    responses: { 200: notificationSettings },
  }),
}
