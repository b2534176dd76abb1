import * as lucide from "lucide"
import { type ComponentChildren, createElement } from "preact"

/** The sign of the product: the roofs of a hamlet. */
const mark: lucide.IconNode = [
  [
    "path",
    {
      d: "M2.25 20.25V12L7.5 6.75 12.75 12v8.25M12.75 12l3.75-3.75 5.25 5.25v6.75M1.5 20.25h21M6 20.25V15h3v5.25",
    },
  ],
]

/**
 * One drawing for each meaning, and no drawing for two: `globe` is what everyone can see, `http` a
 * val with an address, `external` a link that leads elsewhere, `link` a short address.
 */
const drawings = {
  account: lucide.UserRound,
  back: lucide.ChevronLeft,
  bell: lucide.Bell,
  branch: lucide.GitBranch,
  check: lucide.Check,
  chevron: lucide.ChevronRight,
  close: lucide.X,
  comment: lucide.MessageSquare,
  compare: lucide.GitCompareArrows,
  copy: lucide.Copy,
  dark: lucide.Moon,
  data: lucide.Database,
  download: lucide.Download,
  edit: lucide.Pencil,
  explore: lucide.Compass,
  external: lucide.ExternalLink,
  feed: lucide.Rss,
  file: lucide.File,
  fileNew: lucide.FilePlus,
  folderNew: lucide.FolderPlus,
  fork: lucide.GitFork,
  format: lucide.WandSparkles,
  globe: lucide.Globe,
  graph: lucide.Network,
  guide: lucide.Lightbulb,
  heart: lucide.Heart,
  history: lucide.History,
  home: lucide.House,
  http: lucide.AppWindow,
  imports: lucide.Import,
  key: lucide.KeyRound,
  keyboard: lucide.Keyboard,
  light: lucide.Sun,
  link: lucide.Link,
  lock: lucide.Lock,
  logs: lucide.ScrollText,
  mail: lucide.Mail,
  mark,
  menu: lucide.Menu,
  merge: lucide.GitMerge,
  more: lucide.Ellipsis,
  nodes: lucide.Server,
  package: lucide.Package,
  panelBottom: lucide.PanelBottom,
  panelLeft: lucide.PanelLeft,
  panelRight: lucide.PanelRight,
  pause: lucide.Pause,
  people: lucide.Users,
  play: lucide.Play,
  plus: lucide.Plus,
  readme: lucide.BookOpen,
  refresh: lucide.RotateCw,
  runs: lucide.Activity,
  save: lucide.Save,
  script: lucide.Code,
  search: lucide.Search,
  secret: lucide.RectangleEllipsis,
  session: lucide.MonitorSmartphone,
  settings: lucide.Settings2,
  signIn: lucide.LogIn,
  signOut: lucide.LogOut,
  stop: lucide.Square,
  system: lucide.Monitor,
  table: lucide.Table2,
  template: lucide.LayoutTemplate,
  timer: lucide.Clock,
  tools: lucide.Wrench,
  trash: lucide.Trash2,
  undo: lucide.Undo2,
  unlisted: lucide.EyeOff,
  unlock: lucide.LockOpen,
  upload: lucide.Upload,
  usage: lucide.Gauge,
  warning: lucide.TriangleAlert,
  webhook: lucide.Webhook,
  wrap: lucide.WrapText,
} as const satisfies Record<string, lucide.IconNode>

/** The names of the icons. */
export type IconName = keyof typeof drawings

/** An icon in the colour of the surrounding text, which says what it means. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" width="16" height="16" aria-hidden="true">
      {drawings[name].map(([tag, attributes], index) =>
        createElement(tag, { key: index, ...attributes }),
      )}
    </svg>
  )
}

/** A button with an icon alone. Its label is read out, and shown by the pointer. */
export function IconButton(props: {
  readonly icon: IconName
  readonly label: string
  /** Shown instead of the label. */
  readonly title?: string
  readonly class?: string
  readonly disabled?: boolean
  readonly "aria-pressed"?: boolean
  readonly "aria-haspopup"?: "dialog"
  readonly "aria-expanded"?: boolean
  readonly onClick: () => unknown
  readonly children?: ComponentChildren
}) {
  const { icon, label, title = label, onClick, children, ...rest } = props
  return (
    <button
      {...rest}
      type="button"
      class={rest.class ? `icon-button ${rest.class}` : "icon-button"}
      aria-label={label}
      title={title}
      onClick={() => void onClick()}
    >
      <Icon name={icon} />
      {children}
    </button>
  )
}
