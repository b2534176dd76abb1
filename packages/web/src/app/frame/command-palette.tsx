import { useSignal } from "@preact/signals"
import { useEffect, useLayoutEffect } from "preact/hooks"
import { useModal } from "../../ui/dialog.tsx"
import { Icon } from "../../ui/icon.tsx"
import { setTheme } from "../../ui/theme/theme.ts"
import { api } from "../api.ts"
import { withoutTexts } from "../data/pages.ts"
import { reportFailure } from "../parts/buttons/use-action.ts"
import { acting, chooseOwner, joined } from "../session/owners.ts"
import { currentUser, session } from "../session/session.ts"
import { leave } from "../session/sign-in.ts"
import {
  openedPalette,
  openPalette,
  type PaletteCommand,
  pageCommands,
  pageFiles,
} from "./command-palette-state.ts"
import { navigate } from "./location.ts"
import { rankCommands } from "./rank-commands.ts"
import { openShortcuts } from "./shortcut-keys.tsx"

const limits = { shownMax: 30, foundMax: 8, pauseMs: 120 }

/** Finds vals and commands by a few letters, on every page. */
export function CommandPalette() {
  // Before the page is seen: a key that is pressed then is not lost.
  useLayoutEffect(() => {
    const open = (event: KeyboardEvent) => {
      const isControl = (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey
      if (!isControl || event.key.toLowerCase() !== "k") return
      event.preventDefault()
      openPalette()
    }
    addEventListener("keydown", open)
    return () => removeEventListener("keydown", open)
  }, [])
  const { value } = openedPalette
  return value ? <Palette key={value} ofFiles={value === "files"} /> : null
}

function close(): void {
  openedPalette.value = undefined
}

function Palette({ ofFiles }: { ofFiles: boolean }) {
  const element = useModal()
  const text = useSignal("")
  const index = useSignal(0)
  const found = useFoundVals(ofFiles ? "" : text.value)
  const named = ofFiles
    ? rankCommands(pageFiles.value, text.value)
    : [...rankCommands(listCommands(text.value), text.value), ...found]
  const commands = [...named.slice(0, limits.shownMax), ...(ofFiles ? [] : toSearch(text.value))]
  const label = ofFiles ? "A file of this val" : "A val or a command"
  const current = Math.min(index.value, Math.max(0, commands.length - 1))
  const choose = (command: PaletteCommand | undefined) => {
    close()
    command?.run()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0
    if (step !== 0) {
      event.preventDefault()
      index.value = (current + step + commands.length) % Math.max(1, commands.length)
    } else if (event.key === "Enter") {
      event.preventDefault()
      choose(commands[current])
    }
  }
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes it too
    <dialog
      ref={element}
      class="dialog palette"
      aria-label="Command palette"
      onCancel={close}
      onClick={(event) => {
        if (event.target === element.current) close()
      }}
    >
      <div class="row palette-box">
        <Icon name="search" />
        <input
          class="palette-input"
          role="combobox"
          aria-expanded="true"
          aria-controls="palette-list"
          aria-activedescendant={`palette-${current}`}
          aria-label={label}
          placeholder={label}
          spellcheck={false}
          autocomplete="off"
          value={text.value}
          onInput={(event) => {
            text.value = event.currentTarget.value
            index.value = 0
          }}
          onKeyDown={onKeyDown}
        />
        <kbd>Esc</kbd>
      </div>
      {commands.length === 0 ? (
        <p class="quiet palette-empty" role="status">
          No file matches
        </p>
      ) : null}
      <div id="palette-list" class="palette-list" role="listbox" aria-label="Matches">
        {commands.map((command, at) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field above handles the keys
          // biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the field above
          <div
            key={at}
            id={`palette-${at}`}
            class="row palette-row"
            role="option"
            aria-selected={at === current}
            onClick={() => choose(command)}
            onMouseMove={() => {
              index.value = at
            }}
          >
            <Icon name={command.icon} />
            <span>{command.label}</span>
            {command.keys ? <kbd>{command.keys}</kbd> : null}
          </div>
        ))}
      </div>
    </dialog>
  )
}

/** Files are found by a few letters; without any, they would hide the commands. */
function listCommands(text: string): readonly PaletteCommand[] {
  return [
    ...pageCommands.value,
    ...globalCommands(),
    ...(text.trim() === "" ? [] : pageFiles.value),
  ]
}

/** Vals whose name, code or readme contains the text; the user's own by name first. */
function useFoundVals(text: string): readonly PaletteCommand[] {
  const found = useSignal<readonly PaletteCommand[]>([])
  useEffect(() => {
    const query = text.trim()
    if (query === "") {
      found.value = []
      return
    }
    const controller = new AbortController()
    const timer = setTimeout(() => {
      findVals(query, controller.signal).then(
        (commands) => {
          found.value = commands
        },
        () => {
          // The old matches stay; the next letter tries again.
        },
      )
    }, limits.pauseMs)
    return () => {
      clearTimeout(timer)
      controller.abort()
    }
  }, [text])
  return text.trim() === "" ? [] : found.value
}

async function findVals(query: string, signal: AbortSignal): Promise<readonly PaletteCommand[]> {
  const list = { limit: limits.foundMax, ...withoutTexts }
  const [mine, others] = await Promise.all([
    session.peek().kind === "signed-in"
      ? api.listMyVals({ query, sort: "run", ...list }, { signal })
      : { data: [] },
    api.searchVals({ query, ...list }, { signal }),
  ])
  const paths = new Set(
    [...mine.data, ...others.data].map(({ author, name }) => `${author.username}/${name}`),
  )
  return [...paths]
    .slice(0, limits.foundMax)
    .map((path) => ({ label: path, icon: "script", run: () => void navigate(`/u/${path}`) }))
}

/** Offers a search through all vals. */
function toSearch(text: string): readonly PaletteCommand[] {
  const query = text.trim()
  if (query === "") return []
  return [
    {
      label: `Search all vals for “${query}”`,
      icon: "search",
      run: () => void navigate(`/search?q=${encodeURIComponent(query)}`),
    },
  ]
}

function globalCommands(): readonly PaletteCommand[] {
  const me = currentUser()
  const go = (label: string, icon: PaletteCommand["icon"], to: string): PaletteCommand => ({
    label,
    icon,
    run: () => void navigate(to),
  })
  const personal = me
    ? [
        ...ownerCommands(me.username),
        go("New val", "plus", "/new"),
        go("Your vals", "home", "/"),
        go("Runs", "runs", "/runs"),
        go("Live logs", "logs", "/runs/live"),
        go("Data: tables and blobs", "data", "/data"),
        go("Schedules", "timer", "/schedules"),
        go("Webhooks", "webhook", "/webhooks"),
        go("Your page", "account", `/u/${me.username}`),
        go("Account", "settings", "/account"),
        go("Tokens", "key", "/account/tokens"),
        go("Secrets", "secret", "/account/secrets"),
        go("Usage", "usage", "/account/usage"),
        { label: "Sign out", icon: "signOut" as const, run: () => void reportFailure(leave) },
      ]
    : [go("Sign in", "signIn", "/sign-in")]
  return [
    ...personal,
    go("Explore public vals", "explore", "/search"),
    go("Templates", "template", "/templates"),
    go("Guide: your first hour", "guide", "/guide"),
    go("Documentation", "file", "/docs/vals"),
    { label: "All shortcuts", icon: "keyboard", keys: "?", run: openShortcuts },
    go("API reference", "readme", "/docs"),
    { label: "Light colours", icon: "light", run: () => setTheme("light") },
    { label: "Dark colours", icon: "dark", run: () => setTheme("dark") },
    { label: "System colours", icon: "system", run: () => setTheme("system") },
  ]
}

/** Act for another owner, for those who may. */
function ownerCommands(username: string): readonly PaletteCommand[] {
  const current = acting.value?.org.id
  const owners = [{ id: undefined, username }, ...joined.value.map(({ org }) => org)]
  return owners
    .filter(({ id }) => id !== current)
    .map(({ id, username }) => ({
      label: id === undefined ? "Act for yourself" : `Act for ${username}`,
      icon: id === undefined ? "account" : "people",
      run: () => chooseOwner(id),
    }))
}
