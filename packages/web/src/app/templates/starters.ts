import type { Template } from "./template.ts"

/** The templates that are offered to a new user. The others are not in the bundle of the home page. */
export const starters: readonly Template[] = [
  {
    key: "page",
    title: "Web page",
    summary: "Has a web address that you can share",
    icon: "http",
    group: "Web",
  },
  {
    key: "guestbook",
    title: "Form with SQLite",
    summary: "A guestbook: a form, a table, and what visitors wrote",
    icon: "data",
    group: "Data",
  },
  {
    key: "script",
    title: "Script",
    summary: "A function that you run here, from the API or from another val",
    icon: "script",
    group: "Automation",
  },
  {
    key: "report",
    title: "Daily report",
    summary: "Counts the runs of your account each morning, and mails you the numbers",
    icon: "timer",
    group: "Automation",
  },
  {
    key: "chat",
    title: "Chat",
    summary: "WebSockets: everyone who has the page open sees each message at once",
    icon: "comment",
    group: "Web",
  },
  {
    key: "shortener",
    title: "Link shortener",
    summary: "Short links that redirect, with a count of their visits",
    icon: "link",
    group: "Data",
  },
]
