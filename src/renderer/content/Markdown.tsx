import { memo, useState } from 'react'
import type { ComponentProps } from 'react'
import ReactMarkdown from 'react-markdown'
import remarkGfm from 'remark-gfm'
import { strings } from '../strings/index.ts'
import { Revealed, shortenMiddle } from '../text/index.ts'
import { CodeBlock, Verbatim } from './CodeBlock.tsx'
import { createBlockSplitter } from './split-blocks.ts'
import type { Part } from './split-blocks.ts'
import styles from './content.module.css'

/** More than this of one message is not drawn: no window needs a book in one place. */
const MAX_CHARS = 400_000

/** An agent's words. They are hostile: no raw HTML, links say where they lead, images come from the text alone. */
export const Markdown = memo(function Markdown({ text }: { text: string }) {
  const [split] = useState(createBlockSplitter)
  const shown = text.slice(0, MAX_CHARS)
  // Text that grows at its end leaves all parts but the last as they are: only that one is parsed again.
  return (
    <div className={styles.prose}>
      {split(shown).map((part, index) => (
        // oxlint-disable-next-line react/no-array-index-key -- a part keeps its place for as long as text is appended
        <MarkdownPart key={index} kind={part.kind} text={part.text} />
      ))}
      {text.length > shown.length && <p className={styles.cut}>{strings.content.cut(text.length - shown.length)}</p>}
    </div>
  )
})

const MarkdownPart = memo(function MarkdownPart({ kind, text }: Part) {
  if (kind === 'code') return <CodeBlock fenced={text} />
  if (kind === 'plain') return <Verbatim text={text} />
  return (
    <ReactMarkdown remarkPlugins={PLUGINS} components={COMPONENTS} urlTransform={keepAddress}>
      {text}
    </ReactMarkdown>
  )
})

const PLUGINS = [remarkGfm]

const WEB = /^https?:\/\//i
const IMAGE_DATA = /^data:image\/(?:png|jpeg|gif|webp);base64,/i

/** Keeps every address as text, so that an inert link can still say where it would have led. */
function keepAddress(url: string): string {
  return url
}

/**
 * Where a web address leads: its host whole and as the network knows it, whatever stands before or behind it. `isPlain`: the
 * address says just that by itself. Null: it leads nowhere.
 */
function webTarget(href: string): { shown: string; isPlain: boolean } | null {
  const url = WEB.test(href) ? URL.parse(href) : null
  if (url === null) return null
  const rest = url.pathname + url.search + url.hash
  const whole = url.origin + rest
  return {
    shown: url.origin + (rest === '/' ? '' : shortenMiddle(rest, 56)),
    isPlain: whole === href || whole === `${href}/`,
  }
}

function Link({ href = '', children }: ComponentProps<'a'>) {
  const web = webTarget(href)
  const target = (
    <span className={styles.target}>
      {' '}
      (<Revealed text={web?.shown ?? shortenMiddle(href, 80)} />)
    </span>
  )
  if (web === null) {
    return (
      <span className={styles.inert} title={strings.content.inertLink}>
        {children}
        {target}
      </span>
    )
  }
  const says = children === href && web.isPlain
  return (
    <>
      <a href={href} target="_blank" rel="noreferrer noopener">
        {children}
      </a>
      {!says && target}
    </>
  )
}

function Image({ src, alt = '' }: ComponentProps<'img'>) {
  const address = typeof src === 'string' ? src : ''
  if (IMAGE_DATA.test(address)) return <img className={styles.image} src={address} alt={alt} />
  return (
    <span className={styles.inert}>
      {strings.content.imageNotLoaded(alt)}{' '}
      <span className={styles.target}>
        (<Revealed text={shortenMiddle(address, 80)} />)
      </span>
    </span>
  )
}

const COMPONENTS: ComponentProps<typeof ReactMarkdown>['components'] = {
  a: ({ href, children }) => <Link href={href}>{children}</Link>,
  img: ({ src, alt }) => <Image src={src} alt={alt} />,
  // The view has one h1: an agent's headings stand below it.
  h1: ({ children }) => <h4 data-level="1">{children}</h4>,
  h2: ({ children }) => <h4 data-level="2">{children}</h4>,
  h3: ({ children }) => <h4 data-level="3">{children}</h4>,
  h4: ({ children }) => <h4 data-level="4">{children}</h4>,
  h5: ({ children }) => <h5>{children}</h5>,
  h6: ({ children }) => <h6>{children}</h6>,
  input: ({ checked }) => <span aria-hidden="true">{checked === true ? '☑ ' : '☐ '}</span>,
  table: ({ children }) => (
    <div className={styles.scroll} tabIndex={0} role="group" aria-label={strings.content.table}>
      <table>{children}</table>
    </div>
  ),
  pre: ({ children }) => (
    <pre className={styles.output} tabIndex={0}>
      {children}
    </pre>
  ),
  code: ({ children }) => <code>{typeof children === 'string' ? <Revealed text={children} /> : children}</code>,
}
