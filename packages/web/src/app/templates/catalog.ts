import { starters } from "./starters.ts"
import type { Template } from "./template.ts"

/** All templates. */
export const templates: readonly Template[] = [
  ...starters,
  {
    key: "app",
    title: "Page with API",
    summary: "A shopping list: a page, its code in the browser, and an API with a database",
    icon: "http",
    group: "Web",
    files: 7,
  },
  {
    key: "hono",
    title: "Hono app",
    summary: "Routes in files of their own, static files, and data from a JSON file",
    icon: "package",
    group: "Web",
    files: 8,
  },
  {
    key: "signup",
    title: "Sign-up form",
    summary: "A form that checks what it gets, a table, an export and a nightly clean-up",
    icon: "table",
    group: "Data",
    files: 8,
  },
  {
    key: "reports",
    title: "Reports by mail",
    summary: "Collects numbers each morning, mails them, and keeps them on a page",
    icon: "mail",
    group: "Automation",
    files: 6,
  },
  {
    key: "api",
    title: "JSON API",
    summary: "Keeps a counter in a blob and responds with JSON",
    icon: "script",
    group: "Data",
  },
  {
    key: "webhook",
    title: "Webhook receiver",
    summary: "Checks the signature of what other services send, and keeps the latest",
    icon: "webhook",
    group: "Data",
  },
  {
    key: "inbox",
    title: "Mail inbox",
    summary: "Runs when a mail arrives at its address, and keeps it in a table",
    icon: "mail",
    group: "Automation",
  },
  {
    key: "zod",
    title: "API with Zod",
    summary: "Validates JSON with a package from npm, and says what is wrong with it",
    icon: "package",
    group: "Data",
  },
  {
    key: "react",
    title: "React page",
    summary: "Components in TSX, rendered on the server",
    icon: "package",
    group: "Web",
  },
  {
    key: "rss",
    title: "RSS feed",
    summary: "Posts as a page and as a feed that readers subscribe to",
    icon: "feed",
    group: "Web",
  },
  {
    key: "mcp",
    title: "MCP server",
    summary: "Tools that an assistant can call at an address of your own",
    icon: "tools",
    group: "Automation",
  },
]

/** The template with that key. */
export function findTemplate(key: string): Template | undefined {
  return templates.find((template) => template.key === key)
}
