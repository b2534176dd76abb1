import type { ComponentType } from "preact"
import type { PageProps } from "./page-props.ts"

/** A page and how to load it. */
export interface PageRow {
  /** `/u/{username}`: each part in braces matches one path segment. */
  readonly pattern: string
  /** Needs a session; without one, the user signs in first. */
  readonly isPersonal?: true
  /** Shows what belongs to the current owner, and begins anew with another one. */
  readonly isOfOwner?: true
  /** Without the frame of the app around it. */
  readonly isBare?: true
  /** Each page is a separate bundle. */
  readonly load: () => Promise<{ readonly Page: ComponentType<PageProps> }>
}

type Load = PageRow["load"]

const open = (pattern: string, load: Load): PageRow => ({ pattern, load })
const personal = (pattern: string, load: Load): PageRow => ({ pattern, load, isPersonal: true })
const ofOwner = (pattern: string, load: Load): PageRow => ({
  pattern,
  load,
  isPersonal: true,
  isOfOwner: true,
})
const bare = (pattern: string, load: Load): PageRow => ({ pattern, load, isBare: true })

// One function for all paths of a page: the app recognises a loaded page by it.
const loadAccount = () => import("./pages/account.tsx")
const loadOrganisation = () => import("./pages/organisations/organisation.tsx")
const loadMail = () => import("./pages/mail.tsx")
const loadData = () => import("./pages/data.tsx")
const loadTemplates = () => import("./pages/start/templates.tsx")
const loadVal = () => import("./pages/val.tsx")

/** All pages. The server also lists their first segments: `http/pages/web-app.ts`. */
const pages: readonly PageRow[] = [
  { pattern: "/", load: () => import("./pages/home.tsx"), isOfOwner: true },
  bare("/sign-in", () => import("./pages/sign-in.tsx")),
  bare("/sign-in/provider", () => import("./pages/accounts/provider.tsx")),
  bare("/invitation", () => import("./pages/invitation.tsx")),
  bare("/join", () => import("./pages/organisations/join.tsx")),
  bare("/oauth/device", () => import("./pages/oauth/device.tsx")),
  bare("/oauth/authorize", () => import("./pages/oauth/authorize.tsx")),
  personal("/new", () => import("./pages/new-val.tsx")),
  open("/templates", loadTemplates),
  open("/templates/{template}", loadTemplates),
  open("/guide", () => import("./pages/start/guide.tsx")),
  open("/docs", () => import("./pages/reference.tsx")),
  open("/docs/{section}", () => import("./pages/docs.tsx")),
  ofOwner("/data", loadData),
  ofOwner("/data/{section}", loadData),
  open("/search", () => import("./pages/search.tsx")),
  ofOwner("/runs", () => import("./pages/runs/runs.tsx")),
  ofOwner("/runs/live", () => import("./pages/runs/live.tsx")),
  personal("/runs/{runId}", () => import("./pages/runs/run.tsx")),
  ofOwner("/schedules", () => import("./pages/schedules.tsx")),
  ofOwner("/mail", loadMail),
  ofOwner("/mail/{section}", loadMail),
  ofOwner("/webhooks", () => import("./pages/webhooks/webhooks.tsx")),
  ofOwner("/webhooks/{webhookId}", () => import("./pages/webhooks/webhook.tsx")),
  ofOwner("/webhooks/{webhookId}/{deliveryId}", () => import("./pages/webhooks/delivery.tsx")),
  ofOwner("/notifications", () => import("./pages/accounts/notifications.tsx")),
  personal("/nodes", () => import("./pages/accounts/nodes.tsx")),
  personal("/people", () => import("./pages/accounts/people.tsx")),
  personal("/people/{userId}", () => import("./pages/accounts/person.tsx")),
  ofOwner("/account", loadAccount),
  ofOwner("/account/{section}", loadAccount),
  personal("/orgs/{name}", loadOrganisation),
  personal("/orgs/{name}/{section}", loadOrganisation),
  open("/u/{username}", () => import("./pages/user.tsx")),
  open("/u/{username}/{valName}", loadVal),
  open("/u/{username}/{valName}/{tab}", loadVal),
  bare("/embed/{username}/{valName}", () => import("./pages/embed.tsx")),
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
