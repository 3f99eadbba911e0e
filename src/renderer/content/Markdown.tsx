import { memo } from 'react'
import type { ComponentProps } from 'react'
import ReactMarkdown from 'react-markdown'
import remarkGfm from 'remark-gfm'
import { strings } from '../strings/index.ts'
import { Revealed, shortenMiddle } from '../text/index.ts'
import styles from './content.module.css'

/** Longer text is no prose: it is shown plain, and no parser walks it. */
const MAX_MARKDOWN_CHARS = 100_000
/** A line without a break that is longer than this is no prose either. */
const MAX_LINE_CHARS = 20_000

/** An agent's words. They are hostile: no raw HTML, links say where they lead, images come from the text alone. */
export const Markdown = memo(function Markdown({ text }: { text: string }) {
  if (text.length > MAX_MARKDOWN_CHARS || text.split('\n').some((line) => line.length > MAX_LINE_CHARS)) {
    return <LongText text={text} />
  }
  return (
    <div className={styles.prose}>
      <ReactMarkdown remarkPlugins={PLUGINS} components={COMPONENTS} urlTransform={keepSafe} skipHtml={false}>
        {text}
      </ReactMarkdown>
    </div>
  )
})

function LongText({ text }: { text: string }) {
  const shown = text.slice(0, MAX_MARKDOWN_CHARS)
  return (
    <>
      <pre className={styles.output} tabIndex={0}>
        <Revealed text={shown} />
      </pre>
      {text.length > shown.length && <p className={styles.cut}>{strings.content.cut(text.length - shown.length)}</p>}
    </>
  )
}

const PLUGINS = [remarkGfm]

const WEB = /^https?:\/\//i
const IMAGE_DATA = /^data:image\/(?:png|jpeg|gif|webp);base64,/i

/** Keeps every address as text, so that an inert link can still say where it would have led. */
function keepSafe(url: string): string {
  return url
}

function Link({ href = '', children }: ComponentProps<'a'>) {
  const target = (
    <span className={styles.target}>
      {' '}
      (<Revealed text={shortenMiddle(href, 80)} />)
    </span>
  )
  if (!WEB.test(href)) {
    return (
      <span className={styles.inert} title={strings.content.inertLink}>
        {children}
        {target}
      </span>
    )
  }
  const says = typeof children === 'string' && children === href
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
