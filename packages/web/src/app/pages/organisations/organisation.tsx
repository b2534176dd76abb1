import { useMemo } from "preact/hooks"
import { NotFound } from "../../data/loaded.tsx"
import { Members } from "../../organisations/members.tsx"
import { OrgSettings } from "../../organisations/org-settings.tsx"
import type { PageProps } from "../../page-props.ts"
import { SectionsPage } from "../../parts/sections-page.tsx"
import { joined, type Membership } from "../../session/owners.ts"

/** An organisation for those who belong to it: its people and its settings. */
export function Page({ name = "", section = "" }: PageProps) {
  const membership = joined.value.find(
    ({ org }) => org.username.toLowerCase() === name.toLowerCase(),
  )
  return membership ? <Organisation org={membership.org} section={section} /> : <NotFound />
}

function Organisation({ org, section }: { org: Membership["org"]; section: string }) {
  const { id, username } = org
  const sections = useMemo(
    () =>
      ({
        "": { label: "People", icon: "people", View: () => <Members org={{ id, username }} /> },
        settings: {
          label: "Settings",
          icon: "settings",
          View: () => <OrgSettings org={{ id, username }} />,
        },
      }) as const,
    [id, username],
  )
  return (
    <SectionsPage
      title={username}
      end={<a href={`/u/${username}`}>Page of {username}</a>}
      path={`/orgs/${username}`}
      sections={sections}
      current={section}
    />
  )
}
