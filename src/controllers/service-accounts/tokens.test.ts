import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Kind } from '../../kinds/kind.js'
import { metaOf } from '../../meta/object/object-meta.js'
import { objectAt, stringAt } from '../../meta/values/access.js'
import { createWorld, type World } from '../../verbs/api-world.suite.js'
import { type Controller, quietEnv } from '../common/controller.js'
import { startLegacyTokenCleaner, TRACKING } from './legacy-tokens.js'
import { startTokenSecrets } from './tokens.js'

const YEAR = 366 * 86_400_000
let now: number
let world: World
let accounts: Kind
let secrets: Kind
let controller: Controller

beforeEach(async () => {
  now = Date.parse('2024-01-01T00:00:00Z')
  world = createWorld(() => now)
  accounts = world.registry.findKind('', 'ServiceAccount')!
  secrets = world.registry.findKind('', 'Secret')!
  await world.createNamespace('n')
  const issue = () => 'signed'
  controller = await startTokenSecrets(world.context, { accounts, secrets }, { ca: 'PEM', issue }, quietEnv())
})
afterEach(async () => {
  controller.stop()
  await world.context.close()
})

const createToken = (name: string, account: string) =>
  world.create(
    secrets,
    'n',
    name,
    { annotations: { 'kubernetes.io/service-account.name': account } },
    { type: 'kubernetes.io/service-account-token' },
  )
const findToken = (name: string) => world.find(secrets, 'n', name)
const dataOf = async (name: string) => {
  const secret = await findToken(name)
  const data = secret ? objectAt(secret, 'data') : {}
  return Object.fromEntries(Object.keys(data).map(key => [key, Buffer.from(stringAt(data, key), 'base64').toString()]))
}

test('the Secret of an account gets its token, and goes with the account', async () => {
  const account = await world.create(accounts, 'n', 'robot')
  await createToken('t', 'robot')
  await expect.poll(() => dataOf('t')).toEqual({ token: 'signed', 'ca.crt': 'PEM', namespace: 'n' })
  expect(metaOf((await findToken('t'))!).annotations).toMatchObject({
    'kubernetes.io/service-account.uid': metaOf(account).uid,
  })
  await world.delete(accounts, 'n', 'robot')
  await expect.poll(() => findToken('t')).toBeUndefined()
})

test('the Secret of an account that does not exist is deleted', async () => {
  await createToken('t', 'nobody')
  await expect.poll(() => findToken('t')).toBeUndefined()
})

test('a generated token that is not used for a year is marked, and deleted a year later', async () => {
  await world.create(accounts, 'n', 'robot', {}, { secrets: [{ name: 'generated' }] })
  await createToken('generated', 'robot')
  await createToken('made', 'robot')
  await expect.poll(() => dataOf('made')).toMatchObject({ token: 'signed' })
  await world.createNamespace('kube-system')
  const configMaps = world.registry.findKind('', 'ConfigMap')!
  await world.create(configMaps, 'kube-system', TRACKING, {}, { data: { since: '2024-01-01' } })
  const cleanUp = async () => {
    const kinds = { accounts, secrets, pods: world.pods, configMaps }
    const cleaner = await startLegacyTokenCleaner(world.context, kinds, quietEnv())
    await cleaner.idle()
    cleaner.stop()
  }
  await cleanUp()
  expect(metaOf((await findToken('generated'))!).labels).toBeUndefined()
  now += YEAR + 86_400_000
  await cleanUp()
  expect(metaOf((await findToken('generated'))!).labels).toEqual({
    'kubernetes.io/legacy-token-invalid-since': '2025-01-02',
  })
  now += YEAR
  await cleanUp()
  expect(await findToken('generated')).toBeUndefined()
  expect(metaOf((await findToken('made'))!).labels).toBeUndefined()
})
