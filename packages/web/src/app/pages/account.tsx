import { useTitle } from "../../ui/page-title.ts"
import { Profile } from "../account/profile.tsx"
import { Programs } from "../account/programs.tsx"
import { Secrets } from "../account/secrets.tsx"
import { Sessions } from "../account/sessions.tsx"
import { Tokens } from "../account/tokens.tsx"
import { UsageView } from "../account/usage.tsx"
import { NotFound } from "../data/loaded.tsx"
import type { PageProps } from "../page-props.ts"
import { LinkTabs } from "../parts/link-tabs.tsx"

const sections = {
  "": { label: "Profile", icon: "account", View: Profile },
  tokens: { label: "Tokens", icon: "key", View: Tokens },
  secrets: { label: "Secrets", icon: "secret", View: Secrets },
  usage: { label: "Usage", icon: "usage", View: UsageView },
  programs: { label: "Programs", icon: "tools", View: Programs },
  sessions: { label: "Sessions", icon: "session", View: Sessions },
} as const

/** The account of the signed-in user. */
export function Page({ section = "" }: PageProps) {
  useTitle("Account")
  if (!Object.hasOwn(sections, section)) return <NotFound />
  const { View } = sections[section as keyof typeof sections]
  const toHref = (name: string) => (name === "" ? "/account" : `/account/${name}`)
  return (
    <>
      <div class="page-head">
        <h1>Account</h1>
      </div>
      <LinkTabs
        label="Account"
        current={toHref(section)}
        tabs={Object.entries(sections).map(([name, { label, icon }]) => ({
          href: toHref(name),
          label,
          icon,
        }))}
      />
      <div class="account-part">
        <View />
      </div>
    </>
  )
}
