import type { Template } from "./template.ts"

/** All templates; the first six are offered to a new user. */
export const templates: readonly Template[] = [
  {
    key: "page",
    title: "Web page",
    summary: "Has a web address that you can share",
    icon: "http",
    group: "Web",
    type: "http",
  },
  {
    key: "guestbook",
    title: "Form with SQLite",
    summary: "A guestbook: a form, a table, and what visitors wrote",
    icon: "data",
    group: "Data",
    type: "http",
  },
  {
    key: "script",
    title: "Script",
    summary: "A function that you run here, from the API or from another val",
    icon: "script",
    group: "Automation",
    type: "script",
  },
  {
    key: "report",
    title: "Daily report",
    summary: "Counts the runs of your account each morning, and mails you the numbers",
    icon: "timer",
    group: "Automation",
    type: "interval",
  },
  {
    key: "chat",
    title: "Chat",
    summary: "WebSockets: everyone who has the page open sees each message at once",
    icon: "comment",
    group: "Web",
    type: "http",
  },
  {
    key: "shortener",
    title: "Link shortener",
    summary: "Short links that redirect, with a count of their visits",
    icon: "link",
    group: "Data",
    type: "http",
  },
  {
    key: "api",
    title: "JSON API",
    summary: "Keeps a counter in a blob and responds with JSON",
    icon: "script",
    group: "Data",
    type: "http",
  },
  {
    key: "webhook",
    title: "Webhook receiver",
    summary: "Checks the signature of what other services send, and keeps the latest",
    icon: "webhook",
    group: "Data",
    type: "http",
  },
  {
    key: "inbox",
    title: "Mail inbox",
    summary: "Runs when a mail arrives at its address, and keeps it in a table",
    icon: "mail",
    group: "Automation",
    type: "email",
  },
  {
    key: "zod",
    title: "API with Zod",
    summary: "Validates JSON with a package from npm, and says what is wrong with it",
    icon: "package",
    group: "Data",
    type: "http",
  },
  {
    key: "react",
    title: "React page",
    summary: "Components in TSX, rendered on the server",
    icon: "package",
    group: "Web",
    type: "http",
  },
  {
    key: "rss",
    title: "RSS feed",
    summary: "Posts as a page and as a feed that readers subscribe to",
    icon: "feed",
    group: "Web",
    type: "http",
  },
  {
    key: "mcp",
    title: "MCP server",
    summary: "Tools that an assistant can call at an address of your own",
    icon: "tools",
    group: "Automation",
    type: "http",
  },
]

/** The template with that key. */
export function findTemplate(key: string): Template | undefined {
  return templates.find((template) => template.key === key)
}
