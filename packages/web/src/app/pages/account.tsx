import { Profile } from "../components/account/profile.tsx"
import { Secrets } from "../components/account/secrets.tsx"
import { Sessions } from "../components/account/sessions.tsx"
import { Tokens } from "../components/account/tokens.tsx"
import { UsageView } from "../components/account/usage.tsx"
import { NotFound } from "../components/page-states.tsx"
import { useTitle } from "../components/page-title.tsx"
import { Tabs } from "../components/tabs.tsx"
import type { PageProps } from "../page-props.ts"

const sections = {
  "": { label: "Profile", icon: "account", View: Profile },
  tokens: { label: "Tokens", icon: "key", View: Tokens },
  secrets: { label: "Secrets", icon: "lock", View: Secrets },
  usage: { label: "Usage", icon: "timer", View: UsageView },
  sessions: { label: "Sessions", icon: "system", View: Sessions },
} as const

/** What belongs to the person who is signed in. */
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
      <Tabs
        label="Parts of the account"
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
