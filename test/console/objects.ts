// One object in a real browser: editing, merging, ownership, history.
import { beforeAll, expect, test } from 'vitest'
import { checkAccessibility, checkShown, type Page, picture, shared, signIn } from './browser.js'
import { createNamespace, VOYAGES, voyage } from './voyages.js'

export function testObjects(): void {
  let count = 100
  beforeAll(() => createNamespace(shared.server, 'port'))

  /** A new object, and a function that writes it as another manager. */
  async function create() {
    const object = voyage(count++, 'port')
    const { name } = object.metadata
    await shared.server.apply(object)
    const path = `/apis/sea.example.com/v1/namespaces/port/voyages/${name}`
    const write = async (patch: object, part = '', manager = 'pilot'): Promise<void> => {
      const { ok } = await shared.server.fetch(`${path}${part}?fieldManager=${manager}`, {
        method: 'PATCH',
        headers: { 'content-type': 'application/merge-patch+json' },
        body: JSON.stringify(patch),
      })
      expect(ok).toBe(true)
    }
    const read = async () => {
      const response = await shared.server.fetch(path)
      return (await response.json()) as ReturnType<typeof voyage>
    }
    return { name, write, read, link: `${VOYAGES}/port/${name}` }
  }

  const editor = (page: Page) => page.locator('.cm-content')
  /** Replaces a text in the editor, by keys alone. */
  async function replace(page: Page, from: string, to: string): Promise<void> {
    await editor(page).click()
    await page.keyboard.press('Control+f')
    // Typed, because the editor reads the field when a key is released.
    await page.locator('[name=search]').press('Control+a')
    await page.keyboard.type(from)
    await page.keyboard.press('Enter')
    await page.keyboard.press('Escape')
    await page.keyboard.insertText(to)
  }
  const save = (page: Page) => page.getByRole('button', { name: 'Check and save' })

  test('the YAML is completed, described and checked by the schema while one types', async () => {
    const { link } = await create()
    const page = await shared.open(`${link}?tab=yaml`)
    await checkShown(editor(page).getByText('ship'))
    await editor(page).getByText('knots').hover()
    await checkShown(page.locator('.cm-schema-hover').getByText('The speed that is planned.'))
    await page.mouse.move(0, 0)
    await replace(page, 'sails: full', 'sails: half')
    await page.keyboard.press('Enter')
    await page.keyboard.type('no')
    await page.getByRole('option', { name: /notes/ }).click()
    await checkShown(editor(page).getByText('notes'))
    await checkShown(page.locator('.cm-lint-marker-warning'))
    await page.locator('.cm-lint-marker-warning').first().hover()
    await checkShown(page.getByText('must be one of "full", "reefed", "none"'))
  })

  test('the server’s refusal is shown at its line, and a good text is saved after its difference was shown', async () => {
    const { link, read } = await create()
    const page = await shared.open(`${link}?tab=yaml`)
    await checkShown(editor(page).getByText('ship'))
    const { spec } = await read()
    await replace(page, `to: ${spec.to}`, `to: ${spec.from}`)
    await save(page).click()
    await checkShown(page.getByRole('alert').getByText('a voyage ends elsewhere'))
    await checkShown(page.locator('.cm-lint-marker-error'))
    await replace(page, `to: ${spec.from}`, 'to: Boston')
    await page.keyboard.press('Control+s')
    const dialog = page.getByRole('dialog', { name: 'The server would change this' })
    await checkShown(dialog.locator('.cm-changedLine', { hasText: 'Boston' }))
    await dialog.getByRole('button', { name: 'Save' }).click()
    await checkShown(page.getByText('Saved'))
    expect((await read()).spec.to).toBe('Boston')
  })

  test('a conflict is a choice between what you wrote and what the server has', async () => {
    const { link, write, read } = await create()
    const page = await shared.open(`${link}?tab=yaml`)
    await checkShown(editor(page).getByText('ship'))
    await replace(page, 'captain: A. Person', 'captain: B. Person')
    await write({ spec: { knots: 30, crew: { captain: 'C. Person' } } })
    await checkShown(page.getByText('The object has changed on the server since you began.'))
    await save(page).click()
    const dialog = page.getByRole('dialog', { name: 'The object has changed meanwhile' })
    await checkShown(dialog.getByText('spec.knots'))
    await checkShown(dialog.getByRole('cell', { name: 'A. Person' }))
    await checkAccessibility(page)
    await picture(page, 'console-merge')
    await dialog.getByRole('radio', { name: 'Yours for spec.crew.captain' }).check()
    await dialog.getByRole('button', { name: 'Continue with the merged text' }).click()
    await save(page).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
    await checkShown(page.getByText('Saved'))
    expect((await read()).spec).toMatchObject({ knots: 30, crew: { captain: 'B. Person' } })
  })

  test('an apply that takes the field of another manager needs force', async () => {
    const { link, write, read } = await create()
    await write({ spec: { ship: 'Nimrod' } })
    const page = await shared.open(`${link}?tab=yaml`)
    await checkShown(editor(page).getByText('Nimrod'))
    await page.getByText('Apply', { exact: true }).click()
    await page.getByLabel('Field manager', { exact: true }).fill('harbour-master')
    const yaml = JSON.stringify({
      apiVersion: 'sea.example.com/v1',
      kind: 'Voyage',
      metadata: { name: (await read()).metadata.name },
      spec: { ship: 'Aurora' },
    })
    await editor(page).click()
    await page.keyboard.press('Control+a')
    await page.keyboard.press('Delete')
    await page.keyboard.insertText(yaml)
    await save(page).click()
    await checkShown(page.getByRole('alert').getByText('conflict with "pilot"'))
    await page.getByLabel('force').check()
    await save(page).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
    await checkShown(page.getByText('Saved'))
    expect((await read()).spec.ship).toBe('Aurora')
    // The margins name the new owner.
    await checkShown(page.getByLabel('Field managers').getByText('harbour-master'))
  })

  test('unsaved changes are not lost by a link, a command, the back button or a closed tab', async () => {
    const { name, link } = await create()
    const page = await shared.open(`${VOYAGES}?namespace=port&q=${name}`)
    await page.getByRole('link', { name, exact: true }).click()
    await page.getByRole('tab', { name: 'YAML' }).click()
    await checkShown(editor(page).getByText('ship'))
    const wouldAsk = (): Promise<boolean> =>
      page.evaluate(() => !dispatchEvent(new Event('beforeunload', { cancelable: true })))
    expect(await wouldAsk()).toBe(false)
    await replace(page, 'captain: A. Person', 'captain: B. Person')
    await checkShown(page.getByText('unsaved changes'))
    expect(await wouldAsk()).toBe(true)
    const dialog = page.getByRole('dialog', { name: 'Leave without saving?' })
    const stay = async (): Promise<void> => {
      await dialog.getByRole('button', { name: 'Stay' }).click()
      await dialog.waitFor({ state: 'detached' })
      expect(page.url()).toContain(link)
      await checkShown(page.getByText('unsaved changes'))
    }
    await page.getByRole('link', { name: 'ConfigMap' }).click()
    await stay()
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Find' }).pressSequentially('secret')
    await checkShown(page.getByRole('option', { name: 'Secret' }))
    await page.keyboard.press('Enter')
    await stay()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await stay()
    // Other tabs of the object show the same text.
    await page.getByRole('tab', { name: 'Form' }).click()
    expect(await page.getByLabel('captain').inputValue()).toBe('B. Person')
    expect(await dialog.count()).toBe(0)
    await page.goBack()
    await checkShown(editor(page).getByText('B. Person'))
    await page.goBack()
    await checkShown(page.getByRole('tab', { name: 'Overview', selected: true }))
    await page.evaluate(() => history.back())
    await stay()
    await page.evaluate(() => history.back())
    await dialog.getByRole('button', { name: 'Discard and leave' }).click()
    await checkShown(page.getByRole('heading', { name: 'Voyage', exact: true }))
    await page.goForward()
    await page.getByRole('tab', { name: 'YAML' }).click()
    await checkShown(editor(page).getByText('A. Person'))
  })

  test('a session that ends while one edits does not lose the text', async () => {
    const { link } = await create()
    const page = await shared.openSignedOut(`${link}?tab=yaml`)
    await signIn(page, shared.server.token)
    await checkShown(editor(page).getByText('ship'))
    await replace(page, 'captain: A. Person', 'captain: B. Person')
    await page.evaluate(() => localStorage.setItem('binnacle.console.key', 'another'))
    await save(page).click()
    await signIn(page, shared.server.token)
    await checkShown(editor(page).getByText('B. Person'))
    await page.context().close()
  })

  test('margins show who owns each line', async () => {
    const { link, write } = await create()
    await write({ status: { phase: 'Running' } }, '/status', 'controller')
    await write({ metadata: { annotations: { note: 'x' } } })
    const page = await shared.open(`${link}?tab=yaml`)
    await checkShown(page.locator('.cm-owners').first())
    const titles = await page.locator('.cm-owners').evaluateAll(marks => marks.map(mark => (mark as HTMLElement).title))
    expect(titles.some(title => title.startsWith('controller · Update of status'))).toBe(true)
    expect(titles.some(title => title.startsWith('binnacle-testing · Apply'))).toBe(true)
    expect(titles.some(title => title.startsWith('pilot · Update'))).toBe(true)
  })

  test('the form edits the same text', async () => {
    const { link, read } = await create()
    const page = await shared.open(`${link}?tab=form`)
    await page.getByLabel('ship').fill('Quest')
    await page.getByLabel('ship').press('Tab')
    await page.getByLabel('sails').selectOption('reefed')
    await page.getByLabel('knots').fill('99')
    await page.getByLabel('knots').press('Tab')
    await checkShown(page.getByText('must be 40 or less'))
    await page.getByLabel('knots').fill('9')
    await page.getByLabel('knots').press('Tab')
    await page.getByRole('button', { name: 'Add to cargo' }).click()
    await page.getByLabel('name').last().fill('rope')
    await page.getByLabel('name').last().press('Tab')
    await page.getByRole('tab', { name: 'YAML' }).click()
    await checkShown(editor(page).getByText('rope'))
    await page.getByRole('tab', { name: 'Form' }).click()
    await checkAccessibility(page)
    await save(page).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
    await checkShown(page.getByText('Saved'))
    const { spec } = await read()
    expect(spec).toMatchObject({ ship: 'Quest', sails: 'reefed', knots: 9 })
    expect(spec.cargo.map(({ name }) => name)).toEqual(['coal', 'lamps', 'rope'])
  })

  test('earlier revisions are compared and restored', async () => {
    const { link, write, read } = await create()
    await write({ spec: { ship: 'Nimrod' } })
    await write({ spec: { ship: 'Aurora', knots: 20 } }, '', 'bosun')
    const page = await shared.open(`${link}?tab=history`)
    const revisions = page.getByRole('list', { name: 'Revisions, newest first' }).getByRole('button')
    await checkShown(revisions.nth(2))
    expect(await revisions.count()).toBe(3)
    await checkShown(page.locator('.cm-changedLine', { hasText: 'Aurora' }))
    await checkAccessibility(page)
    await revisions.nth(1).click()
    await checkShown(page.locator('.cm-changedLine', { hasText: 'Nimrod' }))
    await page.getByRole('button', { name: /^Restore/ }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Restore' }).click()
    await checkShown(page.getByText('Restored revision'))
    expect((await read()).spec.ship).toBe('Nimrod')
    await expect.poll(() => revisions.count()).toBe(4)
  })

  test('owners, dependents, events, conditions and a deletion that waits are shown', async () => {
    const { server } = shared
    const { name, link, write, read } = await create()
    const { uid } = (await read()).metadata as unknown as { uid: string }
    const owner = { apiVersion: 'sea.example.com/v1', kind: 'Voyage', name, uid }
    await server.apply({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'chart', namespace: 'port', ownerReferences: [{ ...owner, controller: true }] },
    })
    await server.apply({
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: 'storm', namespace: 'port' },
      involvedObject: { apiVersion: owner.apiVersion, kind: owner.kind, name, namespace: 'port', uid },
      reason: 'Storm',
      message: 'All hands on deck.',
      type: 'Warning',
    })
    const at = (minutes: number): string => new Date(Date.now() - minutes * 60_000).toISOString()
    const condition = (status: string, minutes: number) => ({
      status: { conditions: [{ type: 'Ready', status, reason: 'Wind', lastTransitionTime: at(minutes) }] },
    })
    await write(condition('False', 30), '/status')
    await write(condition('True', 10), '/status')
    await write({ metadata: { finalizers: ['sea.example.com/logbook'] } })
    const page = await shared.open(`${link}?tab=relations`)
    await page.getByRole('link', { name: 'chart' }).click()
    await page.getByRole('tab', { name: 'Relations' }).click()
    await page.getByRole('link', { name }).click()
    await page.getByRole('tab', { name: 'Events' }).click()
    await checkShown(page.getByText('All hands on deck.'))
    await page.getByRole('tab', { name: 'Overview' }).click()
    await expect.poll(() => page.locator('.timeline-bar span').count()).toBe(2)
    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await checkShown(page.getByText('The finalizer sea.example.com/logbook is still there'))
    await checkAccessibility(page)
    await page.getByRole('button', { name: 'Remove the finalizers' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
    await checkShown(page.getByText('deleted', { exact: true }))
  })

  test('a new object starts from its schema', async () => {
    const page = await shared.open(`/new/sea.example.com/v1/voyages?namespace=port`)
    await checkShown(editor(page).getByText('my-voyage'))
    await page.getByRole('button', { name: 'Check and create' }).click()
    await checkShown(page.getByRole('alert').getByText('spec.ship'))
    await replace(page, 'ship: ""', 'ship: Fram')
    await page.getByRole('button', { name: 'Check and create' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click()
    await checkShown(page.getByRole('heading', { name: 'my-voyage' }))
  })

  test.each([
    ['light', 1280],
    ['dark', 1280],
    ['light', 390],
  ] as const)('is accessible, %s, %d wide', async (theme, width) => {
    const { link, write } = await create()
    await write({ spec: { knots: 12, sails: 'reefed' } }, '', 'bosun')
    await write({ status: { phase: 'Running' } }, '/status', 'voyage-controller')
    const page = await shared.open(link, { theme, width })
    await checkShown(page.getByRole('tab', { name: 'Overview' }))
    for (const tab of ['Overview', 'YAML', 'Form', 'History', 'Relations']) {
      await page.getByRole('tab', { name: tab }).click()
      if (tab === 'YAML') await checkShown(page.locator('.cm-owners').first())
      if (tab === 'History') await checkShown(page.locator('.cm-changedLine').first())
      if (tab === 'Relations') await checkShown(page.getByText('It owns nothing.'))
      await checkAccessibility(page)
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width)
      if (tab === 'YAML' && theme === 'dark') await picture(page, 'console-yaml')
      if (tab === 'History' && theme === 'light' && width > 400) await picture(page, 'console-history')
    }
  })
}
