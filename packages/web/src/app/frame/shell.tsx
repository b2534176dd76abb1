import type { ComponentChildren } from "preact"
import { Brand } from "../../ui/brand.tsx"
import { Icon } from "../../ui/icon.tsx"
import { setTheme, theme, themeLabels } from "../../ui/theme/theme.ts"
import { themes } from "../../ui/theme/theme-storage.ts"
import { isServerLost } from "../data/connection.ts"
import { Avatar } from "../parts/avatar.tsx"
import { Menu, MenuChoice, MenuItem } from "../parts/buttons/menu.tsx"
import { currentOwner } from "../session/owners.ts"
import { isAdministrator, type Me, session } from "../session/session.ts"
import { leave } from "../session/sign-in.ts"
import { settings } from "../settings.ts"
import { Bell } from "./bell.tsx"
import { openPalette } from "./command-palette-state.ts"
import { currentLocation } from "./location.ts"
import { OwnerSwitch } from "./owner-switch.tsx"
import { openShortcuts } from "./shortcut-keys.tsx"
import { isMac } from "./shortcuts.ts"

/** The frame around every page. It is the same in every state, so that nothing jumps. */
export function Shell({ children }: { children: ComponentChildren }) {
  return (
    <>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <header class="row top-bar">
        <Brand href="/" label="Hamlet, home" />
        {"me" in session.value ? <OwnerSwitch me={session.value.me} /> : null}
        <nav class="top-nav" aria-label="Main">
          <NavLink href="/" label="Home" />
          {session.value.kind === "signed-in" ? (
            <>
              <NavLink href="/runs" label="Runs" />
              <NavLink href="/schedules" label="Schedules" />
              <NavLink href="/data" label="Data" />
            </>
          ) : null}
          <NavLink href="/search" label="Explore" />
          <NavLink href="/templates" label="Templates" />
          <NavLink href="/docs/vals" label="Docs" root="/docs" />
        </nav>
        <button
          type="button"
          class="row boxed small top-search"
          onClick={openPalette}
          aria-haspopup="dialog"
        >
          <Icon name="search" />
          <span class="top-search-text">Search or run a command…</span>
          <kbd>{isMac() ? "⌘K" : "Ctrl K"}</kbd>
        </button>
        <AccountArea />
      </header>
      <p class="lost" role="alert">
        {isServerLost.value
          ? "The server does not respond. It may be restarting; your input is kept. Trying again…"
          : null}
      </p>
      {settings.notice === null ? null : (
        <aside class="row wrap small notice" aria-label="About this server">
          {settings.notice}
        </aside>
      )}
      <main id="main" class="main" tabIndex={-1}>
        {children}
      </main>
    </>
  )
}

/** A link to a part of the app, which is current on all pages below `root`, by default the link. */
function NavLink({ href, label, root = href }: { href: string; label: string; root?: string }) {
  const { path } = currentLocation.value
  const isHere = root === "/" ? path === "/" : path.startsWith(root)
  return (
    <a href={href} {...(isHere ? { "aria-current": "page" as const } : {})}>
      {label}
    </a>
  )
}

function AccountArea() {
  const { value } = session
  return (
    <span class="row top-account">
      {value.kind === "signed-out" ? (
        <a class="button" href="/sign-in">
          Sign in
        </a>
      ) : null}
      {"me" in value ? (
        <>
          <Bell key={currentOwner()?.id} />
          <a class="button button-new" href="/new">
            <Icon name="plus" />
            <span>New val</span>
          </a>
          <AccountMenu me={value.me} />
        </>
      ) : null}
    </span>
  )
}

/** The menu of the signed-in user. */
function AccountMenu({ me }: { me: Me }) {
  return (
    <Menu
      label={`Account of ${me.username}`}
      buttonClass="avatar-button"
      button={<Avatar name={me.username} />}
    >
      <MenuItem icon="account" label="Your page" href={`/u/${me.username}`} />
      <MenuItem icon="settings" label="Account" href="/account" />
      <MenuItem icon="data" label="Data" href="/data" />
      <MenuItem icon="timer" label="Schedules" href="/schedules" />
      <MenuItem icon="mail" label="Mail" href="/mail" />
      <MenuItem icon="webhook" label="Webhooks" href="/webhooks" />
      {isAdministrator() ? (
        <>
          <MenuItem icon="account" label="People" href="/people" />
          <MenuItem icon="nodes" label="Nodes" href="/nodes" />
        </>
      ) : null}
      <hr />
      <MenuItem icon="template" label="Templates" href="/templates" />
      <MenuItem icon="guide" label="Your first hour" href="/guide" />
      <MenuItem icon="file" label="Docs" href="/docs/vals" />
      <MenuItem icon="readme" label="API" href="/docs" />
      <MenuItem icon="keyboard" label="Shortcuts" onClick={openShortcuts} />
      <hr />
      {themes.map((name) => (
        <MenuChoice
          key={name}
          icon={name}
          label={themeLabels[name]}
          isChosen={theme.value === name}
          onClick={() => setTheme(name)}
        />
      ))}
      <hr />
      <MenuItem icon="signOut" label="Sign out" onClick={leave} />
    </Menu>
  )
}
