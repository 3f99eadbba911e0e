import { render, screen } from '@testing-library/react'
import { describe, expect, test } from 'vitest'
import { Markdown } from '../../../src/renderer/content/index.ts'

function show(text: string): HTMLElement {
  return render(<Markdown text={text} />).container
}

describe("an agent's words", () => {
  test('DT-A22 raw HTML is text', () => {
    const page = show('<img src=x onerror=alert(1)> <script>alert(1)</script>')
    expect(page.querySelector('img, script')).toBeNull()
    expect(page.textContent).toContain('<img src=x onerror=alert(1)>')
  })

  test.each(['javascript:alert(1)', 'file:///etc/passwd', 'data:text/html,x', 'vbscript:x'])(
    'DT-A22 a link to %s leads nowhere and says where it would have led',
    (address) => {
      const page = show(`[click](${address})`)
      expect(screen.queryByRole('link')).toBeNull()
      expect(page.textContent).toContain(address)
    },
  )

  test('DT-A22 a web link says its target and takes nothing along', () => {
    const page = show('[docs](https://evil.example/?q=1)')
    const link = screen.getByRole('link', { name: 'docs' })
    expect(link.getAttribute('rel')).toContain('noreferrer')
    expect(link.getAttribute('target')).toBe('_blank')
    expect(page.textContent).toContain('https://evil.example/?q=1')
  })

  test.each([
    [`https://login.example.com.${'a'.repeat(40)}.evil.test/x/${'b'.repeat(60)}/login.example.com/`, '.evil.test'],
    [
      `https://login.example.com:${'a'.repeat(60)}@evil.test/login.example.com/`,
      '(https://evil.test/login.example.com/)',
    ],
    ['https://ex\u0430mple.com', '(https://xn--exmple-4nf.com)'],
  ])('DT-A22 a link to %s says its whole host, as the network knows it', (href, shown) => {
    const { container } = render(<Markdown text={`<${href}> and [words](${href})`} />)
    expect(container.textContent.split(shown).length).toBeGreaterThan(2)
  })

  test('DT-A22 an image from elsewhere is not loaded, one in the text is', () => {
    const page = show('![far](https://evil.example/x.png) ![near](data:image/png;base64,iVBORw0KGgo=)')
    expect([...page.querySelectorAll('img')].map((image) => image.alt)).toEqual(['near'])
    expect(page.textContent).toContain('https://evil.example/x.png')
  })

  test('DT-A22 a line of ten million characters is bounded', () => {
    const page = show('x'.repeat(10_000_000))
    expect(page.textContent?.length).toBeLessThan(500_000)
    expect(page.textContent).toMatch(/more characters are not shown/)
  })

  test('headings of an agent stand below the one of the view', () => {
    const page = show('# Big\n\n## Less')
    expect(page.querySelector('h1, h2, h3')).toBeNull()
    expect(screen.getAllByRole('heading').map((heading) => heading.textContent)).toEqual(['Big', 'Less'])
  })
})
