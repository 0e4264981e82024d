// A test server with the console and a Chromium, shared by the tests of a file. Each test has a context of its own, which
// is signed in.
import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import axe from 'axe-core'
import { type Browser, type BrowserContext, chromium, type Locator, type Page } from 'playwright-core'
import { expect } from 'vitest'
import { startBinnacle, type TestServer } from '../../src/testing/index.js'

const PROGRAM = process.env['CHROMIUM'] ?? 'chromium'

/** Flags for a container without a GPU: Chromium's own sandbox does not work for root. */
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** Whether tests that need Chromium must be skipped. It is said aloud; with CI=true it is a failure. */
export function chromiumMissing(): boolean {
  const { status } = spawnSync(PROGRAM, ['--version'], { stdio: 'ignore' })
  if (status === 0) return false
  const notice = 'MISSING: chromium (Debian package chromium). The tests of the console do not run.'
  if (process.env['CI'] === 'true') throw new Error(notice)
  console.error(notice)
  return true
}

export interface OpenOptions {
  readonly token?: string
  readonly theme?: 'light' | 'dark'
  readonly width?: number
  readonly height?: number
  /** Runs in the page before its own scripts. */
  readonly before?: () => void
}

export interface ConsoleBrowser {
  readonly server: TestServer
  /** Opens a view, signed in: `/r/core/v1/pods`. */
  readonly open: (path: string, options?: OpenOptions) => Promise<Page>
  /** A page that is not signed in. */
  readonly openSignedOut: (path: string) => Promise<Page>
  /** Errors of the page since the last call: of scripts, and of the Content-Security-Policy. */
  readonly takeErrors: () => readonly string[]
  readonly stop: () => Promise<void>
}

export async function startConsole(): Promise<ConsoleBrowser> {
  const [server, browser] = await Promise.all([
    startBinnacle({ console: true }),
    chromium.launch({ executablePath: executableOf(PROGRAM), args: FLAGS }),
  ])
  let errors: string[] = []
  const contexts: BrowserContext[] = []
  const states = new Map<string, Awaited<ReturnType<BrowserContext['storageState']>>>()

  const createPage = async (options: OpenOptions, state?: Awaited<ReturnType<BrowserContext['storageState']>>) => {
    const { theme = 'light', width = 1280, height = 800, before } = options
    const context = await browser.newContext({
      ignoreHTTPSErrors: true,
      viewport: { width, height },
      colorScheme: theme,
      ...(state && { storageState: state }),
    })
    contexts.push(context)
    const page = await context.newPage()
    page.setDefaultTimeout(15_000)
    if (before !== undefined) await page.addInitScript(before)
    page.on('pageerror', error => errors.push(error.message))
    page.on('console', message => {
      if (/Content Security Policy|Trusted/.test(message.text())) errors.push(message.text())
    })
    return page
  }

  const stateOf = async (token: string) => {
    const known = states.get(token)
    if (known !== undefined) return known
    const page = await createPage({})
    await page.goto(`${server.url}/console/`)
    await signIn(page, token)
    const state = await page.context().storageState()
    states.set(token, state)
    await page.context().close()
    return state
  }

  return {
    server,
    open: async (path, options = {}) => {
      const page = await createPage(options, await stateOf(options.token ?? server.token))
      await page.goto(`${server.url}/console${path}`)
      return page
    },
    openSignedOut: async path => {
      const page = await createPage({})
      await page.goto(`${server.url}/console${path}`)
      return page
    },
    takeErrors: () => {
      const taken = errors
      errors = []
      return taken
    },
    stop: async () => {
      await Promise.all(contexts.map(context => context.close().catch(() => undefined)))
      await browser.close()
      await server.stop()
    },
  }
}

/** Playwright starts a file, not a name that a shell would find. */
function executableOf(program: string): string {
  const { stdout } = spawnSync('which', [program], { encoding: 'utf8' })
  return stdout.trim() || program
}

export async function signIn(page: Page, token: string): Promise<void> {
  await page.getByLabel('Token').fill(token)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('navigation', { name: 'Kinds' }).waitFor()
}

/** Waits until it is there, and fails if it does not come. */
export const checkShown = (locator: Locator): Promise<void> => locator.first().waitFor()

export function checkErrors(shared: ConsoleBrowser): void {
  expect(shared.takeErrors()).toEqual([])
}

/** Fails on every finding of axe that is serious or worse, with the elements that it is about. */
export async function checkAccessibility(page: Page): Promise<void> {
  // evaluate() runs the source in the page; a script element would be refused by the Content-Security-Policy.
  await page.evaluate(axe.source)
  const findings = await page.evaluate(async () => {
    const { axe: runner } = globalThis as unknown as { axe: typeof import('axe-core') }
    const { violations } = await runner.run()
    return violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(
        ({ id, nodes }) => `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join(' | ')}`,
      )
  })
  expect(findings).toEqual([])
}

const images = fileURLToPath(new URL('../../docs/images/', import.meta.url))

/** With SCREENSHOTS=1, keeps a picture for the documentation. */
export async function picture(page: Page, name: string): Promise<void> {
  if (process.env['SCREENSHOTS'] !== '1') return
  mkdirSync(images, { recursive: true })
  await page.mouse.move(0, 0)
  await page.screenshot({ path: `${images}${name}.png` })
}

export type { Browser, Page }
