/** Texts that call `canary` where they are interpreted as code, markup or an address. */
export const hostileTexts = [
  `<script>canary("script")</script>`,
  `"><img src=x onerror=canary("img")>`,
  `'-canary("quote")-'`,
  `<svg/onload=canary("svg")>`,
  `</title></textarea></style></script><iframe srcdoc="<script>parent.canary(1)</script>"></iframe>`,
  `javascript:canary("address")`,
  "${canary(1)}{{constructor.constructor('canary(1)')()}}",
  `\u202e<b onmouseover=canary("b") onfocus=canary("b") tabindex=0 autofocus>x`,
] as const

/** All texts in one. */
export const hostileText: string = hostileTexts.join(" ")

const script = "PHNjcmlwdD5wYXJlbnQuY2FuYXJ5KDEpPC9zY3JpcHQ+"
const away = "http://elsewhere.invalid"

/** Attacks through Markdown and its HTML. */
export const hostileMarkdown = [
  ...hostileTexts,
  "[a](javascript:canary(1))",
  "[b](JaVaScRiPt&colon;canary(1))",
  "[c](java\tscript:canary(1))",
  "[d](\u0001javascript:canary(1))",
  "[e](vbscript:canary(1))",
  `[f](data:text/html;base64,${script})`,
  '[g](https://example.com "onmouseover=canary(1) x=\\"")',
  "[h]: javascript:canary(1)\n\n[h]",
  "<javascript:canary(1)>",
  "![i](javascript:canary(1))",
  `![j](${away}/picture.png)`,
  `![k"onerror="canary(1)](${away}/x.png)`,
  '<a href="java&#115;cript:canary(1)">l</a>',
  '<a href=" &#14; javascript:canary(1)">m</a>',
  '<a href="https://example.com" target="_self" rel="opener" ping="http://elsewhere.invalid/ping">n</a>',
  `<img src="${away}/x.png" srcset="${away}/y.png 2x" onerror="canary(1)">`,
  `<picture><source srcset="${away}/z.png"><img src=x></picture>`,
  `<video src="${away}/v" poster="${away}/p" autoplay onerror="canary(1)"><source src=x onerror="canary(1)"></video>`,
  `<audio src=x onerror="canary(1)" autoplay></audio>`,
  `<link rel="stylesheet" href="${away}/style.css">`,
  `<style>@import "${away}/style.css"; body { display: none }</style>`,
  `<div style="position:fixed;inset:0;background:url(${away}/bg.png)">o</div>`,
  `<meta http-equiv="refresh" content="0;url=${away}/">`,
  `<base href="${away}/">`,
  `<iframe src="javascript:parent.canary(1)"></iframe><iframe src="${away}/"></iframe>`,
  `<object data="data:text/html;base64,${script}"></object><embed src="javascript:canary(1)">`,
  `<form action="${away}/"><input name="token" autofocus onfocus="canary(1)"><button formaction="javascript:canary(1)">p</button></form>`,
  '<details open ontoggle="canary(1)"><summary>q</summary></details>',
  '<a name="app" id="app"></a><img name="cookie"><a id="location" name="location" href="https://example.com">r</a>',
  '<p class="dialog toast" data-x="1" aria-hidden="true" slot="x" is="y" role="alert" contenteditable>s</p>',
  `<svg><a xlink:href="javascript:canary(1)"><text y="20">t</text></a><use href="data:image/svg+xml;base64,${script}#x"/></svg>`,
  "<svg><animate onbegin=canary(1) attributeName=x dur=1s></svg>",
  '<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=canary(1)&gt;">',
  "<form><math><mtext></form><form><mglyph><style></math><img src onerror=canary(1)>",
  '<svg></p><style><a id="</style><img src=1 onerror=canary(1)>">',
  '<noscript><p title="</noscript><img src=x onerror=canary(1)>"></noscript>',
  '<math><annotation-xml encoding="text/html"><style><img src=x onerror=canary(1)></style></annotation-xml></math>',
  "<template><script>canary(1)</script></template><xmp><img src=x onerror=canary(1)></xmp>",
  "<marquee onstart=canary(1)>u</marquee><body onload=canary(1)>",
  "```html\n<script>canary(1)</script>\n```",
  "`<img src=x onerror=canary(1)>`",
  "| <img src=x onerror=canary(1)> | a |\n|---|---|\n| <script>canary(1)</script> | b |",
] as const

/** Deeply nested texts that overload a parser. */
export const endlessMarkdown = [
  ">".repeat(9_000),
  "- ".repeat(4_500),
  "[".repeat(9_000),
  "*a ".repeat(3_000),
  "<div>".repeat(1_900),
  "`".repeat(9_000),
] as const
