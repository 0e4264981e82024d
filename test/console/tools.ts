// The views of a definition, of expressions, of events and of the server, in a real browser.
import { readFile } from 'node:fs/promises'
import { beforeAll, describe, expect, test } from 'vitest'
import { encodeYaml } from '../../src/codec/yaml.js'
import { checkAccessibility, checkShown, type Page, picture, shared } from './browser.js'

const crew = {
  type: 'array',
  items: { type: 'object', properties: { name: { type: 'string' }, boss: { type: 'string' } } },
}

const version = (name: string, storage: boolean, more: object = {}) => ({
  name,
  served: true,
  storage,
  schema: {
    openAPIV3Schema: {
      type: 'object',
      properties: {
        spec: {
          type: 'object',
          description: 'What is built.',
          required: ['hull'],
          'x-kubernetes-validations': [{ rule: 'self.hull != self.?mast.orValue("")', message: 'two parts' }],
          properties: {
            hull: { type: 'string', maxLength: 40, description: 'The name of the hull.' },
            length: { type: 'integer', minimum: 1, maximum: 400, default: 30 },
            mast: { type: 'string', enum: ['one', 'two'] },
            ...more,
          },
        },
      },
    },
  },
})

const definition = (versions: readonly object[]) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'ships.yard.example.com' },
  spec: {
    group: 'yard.example.com',
    scope: 'Namespaced',
    names: { plural: 'ships', singular: 'ship', kind: 'Ship', listKind: 'ShipList' },
    versions,
  },
})

const ship = (name: string, length = 120) => ({
  apiVersion: 'yard.example.com/v1',
  kind: 'Ship',
  metadata: { name, namespace: 'default' },
  spec: { hull: name, length, mast: 'two' },
})

const DEFINITION = '/definitions/ships.yard.example.com'

export function testTools(): void {
  beforeAll(async () => {
    await shared.server.apply(definition([version('v1', true), version('v2', false, { crew })]))
    await shared.server.apply([ship('fram'), ship('gauss')])
  })

  /** Replaces all of the text of an editor. */
  async function write(page: Page, label: string, text: string): Promise<void> {
    const editor = page.locator(`.cm-content[aria-label="${label}"]`)
    await editor.click()
    await page.keyboard.press('Control+a')
    await page.keyboard.press('Delete')
    await page.keyboard.insertText(text)
  }

  describe('a definition', () => {
    test('shows its schema as a tree, beside that of another version', async () => {
      const page = await shared.open(`${DEFINITION}?compare=v2`)
      const tree = page.getByRole('tree', { name: 'Fields of v1' })
      const hull = tree.getByTitle('spec.hull')
      await checkShown(tree.getByText('The name of the hull.'))
      await checkShown(tree.getByText('default 30'))
      await checkShown(tree.getByText('one of one, two'))
      await checkShown(tree.getByText('self.hull != self.?mast.orValue("")'))
      const other = page.getByRole('tree', { name: 'Fields of v2' })
      await checkShown(other.locator('.only-here').filter({ hasText: 'crew' }))
      await hull.focus()
      await page.keyboard.press('ArrowUp')
      await page.keyboard.press('Enter')
      await hull.waitFor({ state: 'detached' })
      await checkAccessibility(page)
      await page.getByLabel('Find fields').fill('hull')
      await checkShown(tree.getByText('The name of the hull.'))
      expect(page.url()).toContain('q=hull')
    })

    test('has the costs of its rules, and a rule is tried out', async () => {
      const page = await shared.open(`${DEFINITION}?tab=rules`)
      await checkShown(page.getByText('of 10.0 million'))
      await checkAccessibility(page)
      await page.getByRole('link', { name: 'try it' }).click()
      await checkShown(page.getByRole('region', { name: 'Cost by part' }))
      await checkShown(page.getByText('self.hull != self.?mast.orValue("")'))
    })

    test('gives a sample that the server accepts', async () => {
      const page = await shared.open(`${DEFINITION}?tab=sample`)
      await checkShown(page.locator('.cm-content').filter({ hasText: 'length: 30' }))
      await page.getByLabel('every field').check()
      await checkShown(page.locator('.cm-content').filter({ hasText: 'mast: one' }))
      await checkAccessibility(page)
    })

    test('says what a change would break before it is saved', async () => {
      const page = await shared.open(`${DEFINITION}?tab=change`)
      const save = page.getByRole('button', { name: 'Save' })
      await checkShown(page.locator('.cm-content').filter({ hasText: 'CustomResourceDefinition' }))
      expect(await save.getAttribute('aria-disabled')).toBe('true')
      const narrow = version('v1', true, { length: { type: 'integer', minimum: 1, maximum: 50 } })
      await write(page, 'Definition', encodeYaml(definition([narrow, version('v2', false, { crew })])))
      await checkShown(page.getByText('2 stored objects were checked.'))
      await checkShown(page.getByText('Ship default/fram'))
      expect(await save.getAttribute('aria-description')).toContain('confirm first')
      await checkAccessibility(page)
      await picture(page, 'console-definition-change')
      await page.getByRole('tab', { name: 'Rules' }).click()
      await page.getByRole('tab', { name: 'Change' }).click()
      await checkShown(page.getByText('Ship default/fram'))
      await page.getByRole('link', { name: 'objects' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Stay' }).click()
      await page.getByLabel('save all the same').check()
      await page.getByRole('button', { name: 'Undo' }).click()
      await checkShown(page.getByText('Change the definition to see'))
    })

    test('brings stored objects to a new storage version, with progress', async () => {
      await shared.server.apply(definition([version('v1', false), version('v2', true, { crew })]))
      const page = await shared.open(`${DEFINITION}?tab=versions`)
      await checkShown(page.getByText('Some objects may still be stored in v1'))
      await checkAccessibility(page)
      await page.getByRole('button', { name: 'Write all objects again' }).click()
      await checkShown(page.getByText('Every object is stored in v2.'))
      await checkShown(page.getByText('2 of 2'))
      const response = await shared.server.fetch(
        '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/ships.yard.example.com',
      )
      const { status } = (await response.json()) as { status: { storedVersions: string[] } }
      expect(status.storedVersions).toEqual(['v2'])
    })
  })

  test('the playground evaluates while one types, and is shared by a link', async () => {
    const page = await shared.open('/playground')
    const result = page.getByRole('region', { name: 'Result', exact: true })
    await checkShown(result.getByText('false', { exact: true }))
    await checkAccessibility(page)
    await picture(page, 'console-playground')
    await write(page, 'Expression', 'self.spec.replicas * 7')
    await checkShown(result.getByText('21', { exact: true }))
    await write(page, 'Expression', 'self.spec.nothing')
    await checkShown(result.getByText("undefined field 'nothing'"))
    await write(page, 'Expression', 'self.spec.replicas + 100')
    await checkShown(result.getByText('103', { exact: true }))
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.getByRole('button', { name: 'Share' }).click()
    await page.waitForURL(/#state=/)
    await page.reload()
    await checkShown(result.getByText('103', { exact: true }))
    await page.getByLabel('admission policy').check()
    await write(page, 'Expression', 'variables.size + params.m')
    await write(page, 'params', 'm: 2')
    await write(page, 'variables, as name: expression', 'size: object.spec.replicas')
    await checkShown(result.getByText('5', { exact: true }))
    await checkAccessibility(page)
  })

  test('a watch shows events with their changes, can be paused, and is saved to a file', async () => {
    const page = await shared.open('/watch?resource=configmaps&namespace=default')
    await checkShown(page.getByText(/^live, 0 events/))
    const data = (value: string) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'seen', namespace: 'default' },
      data: { value },
    })
    await shared.server.apply(data('<b>one</b>'))
    await shared.server.apply(data('two'))
    const grid = page.getByRole('grid', { name: 'Events, newest first' })
    await checkShown(grid.getByText('data.value: "<b>one</b>" → "two"'))
    await grid.getByText('data.value:').click()
    await checkShown(page.getByRole('region', { name: 'Event 2' }).locator('.cm-content').filter({ hasText: 'two' }))
    await checkAccessibility(page)
    await picture(page, 'console-watch')
    await page.getByRole('button', { name: 'Pause' }).click()
    await shared.server.apply(data('three'))
    await checkShown(page.getByText('paused, 3 events (1 since)'))
    expect(await grid.getByText('three').count()).toBe(0)
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Save' }).click(),
    ])
    const lines = (await readFile(await download.path(), 'utf8')).trim().split('\n')
    expect(lines.map(line => (JSON.parse(line) as { type: string }).type)).toEqual(['ADDED', 'MODIFIED'])
    await page.getByRole('button', { name: 'Resume' }).click()
    await checkShown(grid.getByText('"two" → "three"'))
  })

  test('the server is shown live, with refused requests and why', async () => {
    const page = await shared.open('/server')
    await checkShown(page.getByText('healthy', { exact: true }))
    await checkShown(page.getByRole('heading', { name: 'Requests since the start' }))
    await shared.server.users.create({ name: 'stowaway' }).fetch('/api/v1/secrets')
    const requests = page.getByRole('region', { name: 'Last requests' })
    await checkShown(requests.getByText('stowaway'))
    await checkShown(requests.getByText('refused: no role allows it'))
    await page.getByLabel('Which requests').selectOption('refused')
    await checkShown(requests.getByText('/api/v1/secrets'))
    await checkAccessibility(page)
  })

  test('faults of a test server are switched on and off, and its clock is moved', async () => {
    const { server } = shared
    const page = await shared.open('/server')
    const panel = page.getByRole('region', { name: 'Test server' })
    await panel.getByLabel('Verb').selectOption('create')
    await panel.getByLabel('Resource').fill('configmaps')
    await panel.getByLabel('Effect').selectOption('503')
    await panel.getByRole('button', { name: 'Switch fault on' }).click()
    const faults = panel.getByRole('list', { name: 'Faults that are on' })
    await checkShown(faults.getByText('create of configmaps is answered 503, once'))
    const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'disturbed' } }
    const create = () =>
      server.fetch('/api/v1/namespaces/default/configmaps', { method: 'POST', body: JSON.stringify(map) })
    expect((await create()).status).toBe(503)
    // It was for one request.
    expect((await create()).status).toBe(201)
    await panel.getByLabel('Effect').selectOption('delay')
    await panel.getByLabel('Times').fill('0')
    await panel.getByRole('button', { name: 'Switch fault on' }).click()
    await checkShown(faults.getByText('create of configmaps waits 1s, always'))
    expect(server.faults.active).toMatchObject([{ verb: 'create', resource: 'configmaps', latency: '1s' }])
    await checkAccessibility(page)
    await picture(page, 'console-server')
    await panel.getByRole('button', { name: 'Switch all off' }).click()
    await checkShown(panel.getByText('No fault is on.'))
    expect(server.faults.active).toEqual([])
    await panel.getByRole('button', { name: 'Freeze' }).click()
    await checkShown(page.getByText('The clock stands still'))
    const frozen = server.clock.now()
    expect(server.clock.now()).toBe(frozen)
    await panel.getByRole('button', { name: '+1h' }).click()
    await checkShown(page.getByText('The clock is 1h ahead'))
    expect(server.clock.now()).toBe(frozen + 3_600_000)
    await checkShown(panel.getByText(new Date(frozen + 3_600_000).toISOString().slice(0, 19)))
    await panel.getByRole('button', { name: 'Run' }).click()
    await checkShown(page.getByText('The clock runs'))
  })

  test('a user without the rights sees why', async () => {
    const { token } = shared.server.users.create({ name: 'guest' })
    const page = await shared.open('/server', { token })
    await checkShown(page.getByText('User "guest" cannot get path "/console/api/server"'))
  })

  test('the tools fit a phone', async () => {
    for (const path of [DEFINITION, '/playground']) {
      const page = await shared.open(path, { width: 390, height: 800, theme: 'dark' })
      await checkShown(page.getByRole('heading', { level: 1 }))
      const width = await page.evaluate(() => document.documentElement.scrollWidth)
      expect(width).toBeLessThanOrEqual(390)
    }
  })
}
