import type { ComponentType } from "preact"
import type { PageProps } from "./page-props.ts"

/** A page and how to load it. */
export interface PageRow {
  /** `/u/{username}`: each part in braces matches one path segment. */
  readonly pattern: string
  /** Needs a session; without one, the user signs in first. */
  readonly isPersonal?: true
  /** Without the frame of the app around it. */
  readonly isBare?: true
  /** Each page is a separate bundle. */
  readonly load: () => Promise<{ readonly Page: ComponentType<PageProps> }>
}

// One function for all paths of a page: the app recognises a loaded page by it.
const loadAccount = () => import("./pages/account.tsx")
const loadMail = () => import("./mail/mail-page.tsx")
const loadData = () => import("./pages/storage/data.tsx")
const loadTemplates = () => import("./pages/start/templates.tsx")
const loadVal = () => import("./pages/val.tsx")

/** All pages. The server also lists their first segments: `http/pages/web-app.ts`. */
const pages: readonly PageRow[] = [
  { pattern: "/", load: () => import("./pages/home.tsx") },
  { pattern: "/sign-in", isBare: true, load: () => import("./pages/sign-in.tsx") },
  {
    pattern: "/sign-in/provider",
    isBare: true,
    load: () => import("./pages/accounts/provider.tsx"),
  },
  { pattern: "/invitation", isBare: true, load: () => import("./pages/invitation.tsx") },
  { pattern: "/oauth/authorize", isBare: true, load: () => import("./pages/oauth/authorize.tsx") },
  { pattern: "/new", isPersonal: true, load: () => import("./pages/new-val.tsx") },
  { pattern: "/templates", load: loadTemplates },
  { pattern: "/templates/{template}", load: loadTemplates },
  { pattern: "/guide", load: () => import("./pages/start/guide.tsx") },
  { pattern: "/data", isPersonal: true, load: loadData },
  { pattern: "/data/{section}", isPersonal: true, load: loadData },
  { pattern: "/search", load: () => import("./pages/search.tsx") },
  { pattern: "/runs", isPersonal: true, load: () => import("./pages/runs/runs.tsx") },
  { pattern: "/runs/live", isPersonal: true, load: () => import("./pages/runs/live.tsx") },
  { pattern: "/runs/{runId}", isPersonal: true, load: () => import("./pages/runs/run.tsx") },
  { pattern: "/schedules", isPersonal: true, load: () => import("./pages/schedules.tsx") },
  { pattern: "/mail", isPersonal: true, load: loadMail },
  { pattern: "/mail/{section}", isPersonal: true, load: loadMail },
  { pattern: "/webhooks", isPersonal: true, load: () => import("./pages/webhooks.tsx") },
  { pattern: "/webhooks/{webhookId}", isPersonal: true, load: () => import("./pages/webhook.tsx") },
  {
    pattern: "/webhooks/{webhookId}/{deliveryId}",
    isPersonal: true,
    load: () => import("./pages/delivery.tsx"),
  },
  {
    pattern: "/notifications",
    isPersonal: true,
    load: () => import("./pages/accounts/notifications.tsx"),
  },
  { pattern: "/people", isPersonal: true, load: () => import("./pages/accounts/people.tsx") },
  {
    pattern: "/people/{userId}",
    isPersonal: true,
    load: () => import("./pages/accounts/person.tsx"),
  },
  { pattern: "/account", isPersonal: true, load: loadAccount },
  { pattern: "/account/{section}", isPersonal: true, load: loadAccount },
  { pattern: "/u/{username}", load: () => import("./pages/user.tsx") },
  { pattern: "/u/{username}/{valName}", load: loadVal },
  { pattern: "/u/{username}/{valName}/{tab}", load: loadVal },
  { pattern: "/embed/{username}/{valName}", isBare: true, load: () => import("./pages/embed.tsx") },
]

/** The page at a path, and the named parts of the path. */
export function findPage(
  path: string,
): { readonly row: PageRow; readonly props: PageProps } | undefined {
  const parts = split(path)
  for (const row of pages) {
    const props = match(split(row.pattern), parts)
    if (props) return { row, props }
  }
  return undefined
}

function split(path: string): readonly string[] {
  return path.split("/").filter((part) => part !== "")
}

function match(pattern: readonly string[], parts: readonly string[]): PageProps | undefined {
  if (pattern.length !== parts.length) return undefined
  const props: Record<string, string> = {}
  for (const [index, expected] of pattern.entries()) {
    const part = parts[index] ?? ""
    if (expected.startsWith("{")) props[expected.slice(1, -1)] = decode(part)
    else if (expected !== part) return undefined
  }
  return props
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
