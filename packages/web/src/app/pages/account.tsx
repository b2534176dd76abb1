import { OwnOrganisations } from "../account/organisations.tsx"
import { Profile } from "../account/profile.tsx"
import { Programs } from "../account/programs.tsx"
import { Secrets } from "../account/secrets.tsx"
import { Sessions } from "../account/sessions.tsx"
import { Tokens } from "../account/tokens.tsx"
import { UsageView } from "../account/usage.tsx"
import type { PageProps } from "../page-props.ts"
import { SectionsPage } from "../parts/sections-page.tsx"
import { acting } from "../session/owners.ts"

const sections = {
  "": { label: "Profile", icon: "account", View: Profile },
  tokens: { label: "Tokens", icon: "key", View: Tokens },
  secrets: { label: "Secrets", icon: "secret", View: Secrets },
  usage: { label: "Usage", icon: "usage", View: UsageView },
  organisations: { label: "Organisations", icon: "people", View: OwnOrganisations },
  programs: { label: "Programs", icon: "tools", View: Programs },
  sessions: { label: "Sessions", icon: "session", View: Sessions },
} as const

/** The account of the signed-in user. */
export function Page({ section = "" }: PageProps) {
  const org = acting.value?.org.username
  const lead = org === undefined ? {} : { lead: `Secrets and usage are those of ${org}.` }
  return (
    <SectionsPage title="Account" {...lead} path="/account" sections={sections} current={section} />
  )
}
