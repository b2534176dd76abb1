import { Icon } from "../../ui/icon.tsx"
import { setTheme, theme, themeLabels } from "../../ui/theme.ts"
import { themes } from "../../ui/theme-storage.ts"
import { Avatar } from "../parts/avatar.tsx"
import { Menu } from "../parts/menu.tsx"
import { isAdministrator, type Me } from "../session/session.ts"
import { signOut } from "../session/sign-in.ts"
import { navigate } from "./location.ts"
import { openShortcuts } from "./shortcut-keys.tsx"
import { showError } from "./toast-list.ts"

/** The menu of the signed-in user. */
export function AccountMenu({ me }: { me: Me }) {
  const leave = () => signOut().then(() => navigate("/"), showError)
  return (
    <Menu
      label={`Account of ${me.username}`}
      buttonClass="avatar-button"
      button={<Avatar name={me.username} />}
    >
      <a role="menuitem" href={`/u/${me.username}`}>
        <Icon name="account" /> Your page
      </a>
      <a role="menuitem" href="/account">
        <Icon name="settings" /> Account
      </a>
      <a role="menuitem" href="/data">
        <Icon name="data" /> Data
      </a>
      <a role="menuitem" href="/schedules">
        <Icon name="timer" /> Schedules
      </a>
      <a role="menuitem" href="/mail">
        <Icon name="mail" /> Mail
      </a>
      <a role="menuitem" href="/webhooks">
        <Icon name="webhook" /> Webhooks
      </a>
      {isAdministrator() ? (
        <a role="menuitem" href="/people">
          <Icon name="account" /> People
        </a>
      ) : null}
      <hr />
      <a role="menuitem" href="/templates">
        <Icon name="template" /> Templates
      </a>
      <a role="menuitem" href="/guide">
        <Icon name="guide" /> Your first hour
      </a>
      <a role="menuitem" href="/docs">
        <Icon name="external" /> API
      </a>
      <button type="button" role="menuitem" onClick={openShortcuts}>
        <Icon name="keyboard" /> Shortcuts
      </button>
      <hr />
      {themes.map((name) => (
        <button
          key={name}
          type="button"
          role="menuitemradio"
          aria-checked={theme.value === name}
          onClick={() => setTheme(name)}
        >
          <Icon name={name} /> {themeLabels[name]}
          {theme.value === name ? <Icon name="check" /> : null}
        </button>
      ))}
      <hr />
      <button type="button" role="menuitem" onClick={leave}>
        <Icon name="signOut" /> Sign out
      </button>
    </Menu>
  )
}
