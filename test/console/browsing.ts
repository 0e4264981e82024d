// Signing in and browsing, in a real browser.
import { describe, expect, test } from 'vitest'
import { checkAccessibility, checkShown, type Page, picture, shared, signIn } from './browser.js'
import { createNamespace, definition, VOYAGES, voyage } from './voyages.js'

/** The palette opens a frame later than its key: keys before that go to the page. */
async function typeIntoPalette(page: Page, text: string): Promise<void> {
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'Find' }).pressSequentially(text)
}

const HOSTILE = `<img src=x onerror="document.body.dataset.hacked='1'"><script>document.body.dataset.hacked='1'</script>`

export function testBrowsing(): void {
  const names = (page: Page): Promise<string[]> => page.locator('.data-row .name').allTextContents()
  const row = (page: Page, name: string) =>
    page.getByRole('row').filter({ has: page.getByRole('link', { name, exact: true }) })
  const waitForRows = (page: Page) => checkShown(row(page, 'voyage-0'))

  describe('sign-in', () => {
    test('a wrong token is refused, the right one leads to the view of the link', async () => {
      const page = await shared.openSignedOut(`${VOYAGES}?namespace=harbour`)
      await page.getByLabel('Token').fill('wrong')
      await page.getByRole('button', { name: 'Sign in' }).click()
      await checkShown(page.getByRole('alert'))
      await checkAccessibility(page)
      await signIn(page, shared.server.token)
      await waitForRows(page)
      await page.getByRole('button', { name: 'Sign out' }).click()
      await checkShown(page.getByLabel('Token'))
      expect(await page.evaluate(() => localStorage.getItem('binnacle.console.key'))).toBeNull()
      await page.context().close()
    })

    test('a session that has ended leads back to the sign-in', async () => {
      const page = await shared.open(`${VOYAGES}?namespace=harbour`)
      await waitForRows(page)
      await page.evaluate(() => localStorage.setItem('binnacle.console.key', 'another'))
      const token = page.getByLabel('Token')
      // Any request shows that the session has ended; one of the page's own may be sooner than the click.
      await Promise.race([page.getByRole('link', { name: 'ConfigMap' }).click(), token.waitFor()])
      await checkShown(token)
    })

    test('a refused request of an earlier session does not end the present one', async () => {
      const page = await shared.open(`${VOYAGES}?namespace=harbour`)
      await waitForRows(page)
      const key = await page.evaluate(() => localStorage.getItem('binnacle.console.key')!)
      const everything = /./
      await page.route(everything, async route => {
        const headers = { ...route.request().headers(), 'x-binnacle-console': key }
        if (!route.request().url().includes('/configmaps')) return route.continue({ headers })
        await page.evaluate(present => localStorage.setItem('binnacle.console.key', present), key)
        return route.fulfill({ status: 401, json: { kind: 'Status', code: 401, message: 'a late refusal' } })
      })
      await page.evaluate(() => localStorage.setItem('binnacle.console.key', 'earlier'))
      await page.getByRole('link', { name: 'ConfigMap' }).click()
      await checkShown(page.getByText('a late refusal'))
      expect(await page.evaluate(() => localStorage.getItem('binnacle.console.key'))).toBe(key)
      await page.unroute(everything)
    })
  })

  describe('a table', () => {
    test('has the server’s columns, and more of them when wide', async () => {
      const page = await shared.open(`${VOYAGES}?namespace=harbour`)
      await waitForRows(page)
      const heads = (): Promise<string[]> => page.getByRole('columnheader').allInnerTexts()
      expect((await heads()).map(text => text.replaceAll(/\s/g, '')).filter(Boolean)).toEqual([
        'Name↑',
        'Ship',
        'Knots',
        'Phase',
        'Age',
      ])
      await page.keyboard.press('w')
      await checkShown(page.getByRole('columnheader', { name: 'To' }))
      expect(page.url()).toContain('wide=1')
    })

    test('follows what happens', async () => {
      const page = await shared.open(`${VOYAGES}?namespace=sea`)
      await checkShown(page.getByText('There is no Voyage in namespace sea.'))
      await createNamespace(shared.server, 'sea')
      await shared.server.apply([voyage(1, 'sea'), voyage(2, 'sea')])
      await checkShown(row(page, 'voyage-2'))
      await shared.server.apply({ ...voyage(1, 'sea'), spec: { ...voyage(1).spec, ship: 'Nimrod' } })
      await checkShown(row(page, 'voyage-1').getByText('Nimrod'))
      await shared.server.delete(voyage(2, 'sea'))
      await row(page, 'voyage-2').waitFor({ state: 'detached' })
      // A server that has forgotten its history makes the page list again.
      await shared.server.compactHistory()
      await shared.server.apply(voyage(3, 'sea'))
      await checkShown(row(page, 'voyage-3'))
    })

    test('is filtered by text and selectors, which are in the address', async () => {
      const page = await shared.open(`${VOYAGES}?namespace=harbour&labels=season%3Dwinter`)
      await checkShown(row(page, 'voyage-3'))
      expect(await page.locator('.data-row').count()).toBe(10)
      await page.keyboard.press('/')
      await page.keyboard.type('discovery')
      await expect.poll(() => names(page)).toEqual([])
      await page.keyboard.press('Control+A')
      await page.keyboard.type('gauss')
      await expect.poll(() => names(page)).toEqual(['voyage-3', 'voyage-15', 'voyage-27', 'voyage-39'])
      expect(new URL(page.url()).searchParams.get('q')).toBe('gauss')
      await page.getByLabel('Field selector').first().fill('spec.sh')
      await page.getByRole('option', { name: 'spec.ship' }).click()
      await page.keyboard.type('Fram')
      await page.keyboard.press('Enter')
      await checkShown(page.getByText('No Voyage fits the filters.'))
      await page.getByRole('button', { name: 'Clear the filters' }).click()
      await waitForRows(page)
      await page.getByLabel('Label selector').first().fill('no good =')
      await page.keyboard.press('Enter')
      await checkShown(page.getByRole('alert'))
    })

    test('is sorted by a column', async () => {
      const page = await shared.open(`${VOYAGES}?namespace=harbour`)
      await waitForRows(page)
      await page.getByRole('columnheader', { name: 'Knots' }).getByRole('button').click()
      await page.getByRole('columnheader', { name: 'Knots' }).getByRole('button').click()
      await expect.poll(async () => (await names(page)).slice(0, 3)).toEqual(['voyage-13', 'voyage-27', 'voyage-12'])
      expect(await page.getByRole('columnheader', { name: 'Knots' }).getAttribute('aria-sort')).toBe('descending')
    })

    test('is used by keys alone, and the back button returns to the row', async () => {
      const page = await shared.open(`${VOYAGES}?namespace=harbour`)
      await waitForRows(page)
      for (const key of ['j', 'j', 'j', 'k', 'Enter']) await page.keyboard.press(key)
      await checkShown(page.getByRole('heading', { name: 'voyage-1', exact: true }))
      await page.keyboard.press('e')
      await checkShown(page.getByRole('tab', { name: 'YAML', selected: true }))
      await page.goBack()
      await page.goBack()
      await checkShown(page.locator('.data-row.active', { hasText: 'voyage-1' }))
      await page.keyboard.press(':')
      await page.keyboard.type('crd')
      await checkShown(page.getByRole('option', { name: 'CustomResourceDefinition' }).first())
      await page.keyboard.press('Enter')
      await checkShown(page.getByRole('heading', { name: 'CustomResourceDefinition' }))
      await page.keyboard.press('?')
      await checkShown(page.getByRole('dialog', { name: 'Keys' }).getByText('Next row'))
      await page.keyboard.press('Escape')
      await typeIntoPalette(page, 'voyage-17')
      await checkShown(page.getByRole('option', { name: 'voyage-17' }))
      await page.keyboard.press('Enter')
      await checkShown(page.getByRole('heading', { name: 'voyage-17' }))
      await page.keyboard.press('Escape')
      await waitForRows(page)
    })

    test('labels and deletes several objects', async () => {
      const { server } = shared
      await createNamespace(shared.server, 'yard')
      await server.apply([1, 2, 3].map(index => voyage(index, 'yard')))
      const page = await shared.open(`${VOYAGES}?namespace=yard`)
      await checkShown(row(page, 'voyage-1'))
      for (const key of ['j', ' ', 'j', ' ', 'l']) await page.keyboard.press(key)
      const dialog = page.getByRole('dialog')
      await dialog.getByRole('textbox').fill('dock=dry season-')
      await dialog.getByRole('button', { name: 'Label' }).click()
      await checkShown(page.getByText('Labelled 2 voyages'))
      const labelled = await server.get(voyage(2, 'yard'))
      expect(labelled.metadata.labels).toEqual({ dock: 'dry', fleet: 'south' })
      await page.keyboard.press('Delete')
      await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
      await row(page, 'voyage-2').waitFor({ state: 'detached' })
      expect(await names(page)).toEqual(['voyage-3'])
    })
  })

  test('a kind that is defined while one looks appears', async () => {
    const page = await shared.open('/')
    await checkShown(page.getByRole('heading', { name: 'Kinds' }))
    await shared.server.apply(definition('wrecks', 'Wreck'))
    await page.getByRole('navigation', { name: 'Kinds' }).getByRole('link', { name: 'Wreck' }).click()
    await checkShown(page.getByText('There is no Wreck'))
  })

  test('what the user may not do is disabled, with the reason', async () => {
    const { server } = shared
    const { token } = server.users.create({ name: 'reader' })
    const role = { apiVersion: 'rbac.authorization.k8s.io/v1', metadata: { name: 'reads-voyages' } }
    await server.apply([
      {
        ...role,
        kind: 'ClusterRole',
        rules: [{ apiGroups: ['sea.example.com'], resources: ['voyages'], verbs: ['get', 'list', 'watch'] }],
      },
      {
        ...role,
        kind: 'ClusterRoleBinding',
        subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'reader' }],
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'reads-voyages' },
      },
    ])
    const page = await shared.open(`${VOYAGES}?namespace=harbour`, { token })
    await waitForRows(page)
    const create = page.getByRole('button', { name: 'Create' })
    await expect.poll(() => create.getAttribute('aria-disabled')).toBe('true')
    expect(await create.getAttribute('title')).toContain('You may not create voyages')
    await create.click({ force: true })
    expect(page.url()).toContain(VOYAGES)
    await page.getByRole('link', { name: 'Secret' }).click()
    await checkShown(page.getByRole('alert').getByText('forbidden'))
  })

  test('what objects hold is shown as text', async () => {
    const { server } = shared
    await createNamespace(shared.server, 'hostile')
    const hostile = voyage(1, 'hostile')
    await server.apply({
      ...hostile,
      metadata: { ...hostile.metadata, annotations: { note: HOSTILE } },
      spec: { ...hostile.spec, ship: HOSTILE, notes: { [HOSTILE]: HOSTILE } },
    })
    const page = await shared.open(`${VOYAGES}?namespace=hostile`)
    await checkShown(row(page, 'voyage-1').getByText('<img src=x'))
    for (const tab of ['', 'yaml', 'form', 'history']) {
      await page.goto(`${server.url}/console${VOYAGES}/hostile/voyage-1?tab=${tab}`)
      await checkShown(page.getByText('<img src=x').first())
    }
    // The text of a form's field is in no text node.
    expect(await page.locator('img:not([alt])').count()).toBe(0)
    expect(await page.evaluate(() => document.body.dataset['hacked'])).toBeUndefined()
    await page.goto(`${server.url}/console/r/core/v1/${encodeURIComponent(HOSTILE)}?q=${encodeURIComponent(HOSTILE)}`)
    await checkShown(page.getByText('The server has no'))
    expect(await page.evaluate(() => document.body.dataset['hacked'])).toBeUndefined()
  })

  test('the first load has less than 250 KiB, all from the server itself', async () => {
    const page = await shared.openSignedOut('/')
    const client = await page.context().newCDPSession(page)
    await client.send('Network.enable')
    await client.send('Network.setCacheDisabled', { cacheDisabled: true })
    // Of the page itself; what the API answers depends on what it holds.
    const paths = new Map<string, string>()
    let bytes = 0
    const foreign: string[] = []
    client.on('Network.requestWillBeSent', ({ requestId, request }) =>
      paths.set(requestId, new URL(request.url).pathname),
    )
    client.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
      if (/^\/console\/(?!api\/)/.test(paths.get(requestId) ?? '')) bytes += encodedDataLength
    })
    page.on('request', request => {
      if (new URL(request.url()).origin !== shared.server.url) foreign.push(request.url())
    })
    await page.goto(`${shared.server.url}/console${VOYAGES}?namespace=harbour`)
    await signIn(page, shared.server.token)
    await waitForRows(page)
    expect(foreign).toEqual([])
    expect(bytes).toBeGreaterThan(20 * 1024)
    expect(bytes).toBeLessThan(250 * 1024)
    await page.context().close()
  })

  test.each([
    ['light', 1280],
    ['dark', 1280],
    ['light', 390],
  ] as const)('is accessible and stands on its own, %s, %d wide', async (theme, width) => {
    const page = await shared.open(`${VOYAGES}?namespace=harbour`, { theme, width })
    await waitForRows(page)
    await checkAccessibility(page)
    for (const key of ['j', 'j', ' ']) await page.keyboard.press(key)
    if (theme === 'light') await picture(page, width === 390 ? 'console-phone' : 'console-browse')
    // The page itself never scrolls sideways; the table does.
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width)
    await typeIntoPalette(page, 'voy')
    await checkShown(page.getByRole('option', { name: 'voyage-1', exact: false }).first())
    await checkAccessibility(page)
    await page.keyboard.press('Escape')
    if (width < 400) {
      await page.getByRole('button', { name: 'Kinds' }).click()
      await page.getByRole('link', { name: 'ConfigMap' }).click()
      await checkShown(page.getByRole('heading', { name: 'ConfigMap' }))
    }
  })
}
