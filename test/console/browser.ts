// A test server with the console and a Chromium, shared by all tests of the console. A new context costs five times as much
// as a load in a page that is there, so the tests share one page, too, and load it anew.
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

/** Limits against endless tests only: on a busy machine everything takes many times as long. */
const STEP_MS = 40_000
export const TEST_MS = 120_000

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
}

export interface ConsoleBrowser {
  readonly server: TestServer
  /** Loads a view in the shared page, signed in: `/r/core/v1/pods`. */
  readonly open: (path: string, options?: OpenOptions) => Promise<Page>
  /** Another page of the same session, for a test that changes what a page is. */
  readonly openAnother: (path: string, before: () => void) => Promise<Page>
  /** A page with a session of its own: not signed in, and what it does with a session concerns no other test. */
  readonly openSignedOut: (path: string) => Promise<Page>
  /** Errors of the page since the last call: of scripts, and of the Content-Security-Policy. */
  readonly takeErrors: () => readonly string[]
  readonly stop: () => Promise<void>
}

/** Of the tests that run; there once `startConsole` has ended. */
export let shared: ConsoleBrowser

export async function startConsole(): Promise<void> {
  const [server, browser] = await Promise.all([
    startBinnacle({ console: true }),
    chromium.launch({ executablePath: executableOf(PROGRAM), args: FLAGS }),
  ])
  let errors: string[] = []

  const createPage = async (context: BrowserContext): Promise<Page> => {
    const page = await context.newPage()
    page.setDefaultTimeout(STEP_MS)
    page.on('pageerror', error => errors.push(error.message))
    page.on('console', message => {
      if (/Content Security Policy|Trusted/.test(message.text())) errors.push(message.text())
    })
    return page
  }

  const context = await browser.newContext({ ignoreHTTPSErrors: true })
  const page = await createPage(context)
  await page.goto(`${server.url}/console/`)
  const sessions = new Map<string, Session>()
  /** Signs in as the sign-in view does, without drawing it. */
  const becomeUser = async (token: string): Promise<void> => {
    const known = sessions.get(token)
    if (known === undefined) {
      // With the cookie of another session, signing in would end that one.
      await context.clearCookies()
      const key = await page.evaluate(async credential => {
        const headers = { 'content-type': 'application/json' }
        const response = await fetch('/console/api/session', { method: 'POST', headers, body: credential })
        return ((await response.json()) as { key: string }).key
      }, JSON.stringify({ token }))
      sessions.set(token, { key, cookies: await context.cookies() })
    } else await context.addCookies([...known.cookies])
    // What the page remembers, as the namespace, belongs to the test before.
    await page.evaluate(key => {
      localStorage.clear()
      localStorage.setItem('binnacle.console.key', key)
    }, sessions.get(token)!.key)
  }

  shared = {
    server,
    open: async (path, { token = server.token, theme = 'light', width = 1280, height = 800 } = {}) => {
      await becomeUser(token)
      await page.setViewportSize({ width, height })
      await page.emulateMedia({ colorScheme: theme })
      await page.goto(`${server.url}/console${path}`)
      return page
    },
    openAnother: async (path, before) => {
      await becomeUser(server.token)
      const another = await createPage(context)
      await another.addInitScript(before)
      await another.goto(`${server.url}/console${path}`)
      return another
    },
    openSignedOut: async path => {
      const another = await createPage(await browser.newContext({ ignoreHTTPSErrors: true }))
      await another.goto(`${server.url}/console${path}`)
      return another
    },
    takeErrors: () => {
      const taken = errors
      errors = []
      return taken
    },
    stop: async () => {
      await browser.close()
      await server.stop()
    },
  }
}

interface Session {
  readonly key: string
  readonly cookies: Awaited<ReturnType<BrowserContext['cookies']>>
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

export function checkErrors(): void {
  expect(shared.takeErrors()).toEqual([])
}

/** Fails on every finding of axe that is serious or worse, with the elements that it is about. */
export async function checkAccessibility(page: Page): Promise<void> {
  // evaluate() runs the source in the page; a script element would be refused by the Content-Security-Policy.
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axe.source)
  const findings = await page.evaluate(async () => {
    const { axe: runner } = globalThis as unknown as { axe: typeof import('axe-core') }
    const { violations } = await runner.run({ resultTypes: ['violations'] })
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
