import { afterEach, beforeEach, expect, test } from 'vitest'
import { StatusError } from '../../../meta/errors/status.js'
import { systemRequest } from '../../../request/request.js'
import { parseRequestInfo } from '../../../request/request-info.js'
import { createWorld, type World } from '../../api-world.suite.js'
import { connect } from '../../connect.js'
import { connectSubresources } from '../../subresources.js'

const user = { name: 'test', uid: '', groups: [], extra: {} }

let world: World
beforeEach(() => {
  world = createWorld()
})
afterEach(() => world.context.close())

/** The answer to a request for `pods/p/exec?command=ls` in the namespace x. */
async function ask(path: string, { method = 'GET', allowed = true, isUpgrade = false } = {}): Promise<string> {
  const { context, registry } = world
  const kind = (name: string) => registry.findKind('', name)!
  const kinds = { pods: kind('Pod'), nodes: kind('Node'), services: kind('Service'), endpoints: kind('Endpoints') }
  const [at = '', rawQuery = ''] = path.split('?')
  const info = parseRequestInfo(method, `/api/v1/namespaces/x/${at}`, rawQuery)
  const resources = connectSubresources(context, kinds, () => ({ allowed, reason: '' }))
  const resource = resources.find(each => each.resource.name === `${info.resource}/${info.subresource}`)!
  const request = Object.create(systemRequest({ user, userAgent: 'test' }), { info: { value: info } })
  try {
    const result = await connect(context, request, resource, { namespace: 'x', name: info.name, rawQuery, isUpgrade })
    return `${result.status} ${'location' in result ? result.location : ''}`.trim()
  } catch (error) {
    if (!(error instanceof StatusError)) throw error
    return `${error.status.code} ${error.message}`
  }
}

test('a GET of exec needs the right to create', async () => {
  await world.createPod('x', 'p')
  expect(await ask('pods/p/exec', { allowed: false })).toMatch(/^403 pods "p" is forbidden/)
  expect(await ask('pods/p/exec', { allowed: false, method: 'POST' })).toBe('400 pod p does not have a host assigned')
  expect(await ask('pods/p/log', { allowed: false })).toBe('204')
})

test('a kubelet that has an address refuses the connection', async () => {
  const nodes = world.registry.findKind('', 'Node')!
  await world.create(nodes, '', 'n')
  await world.setStatus(nodes, '', 'n', { addresses: [{ type: 'InternalIP', address: 'fd00::1' }] })
  await world.createPod('x', 'p', { nodeName: 'n' })
  const refused = 'dial tcp [fd00::1]:10250: connect: connection refused'
  expect(await ask('pods/p/log?tailLines=3&follow=true')).toBe(
    `500 Get "https://[fd00::1]:10250/containerLogs/x/p/c?follow=true&tailLines=3": ${refused}`,
  )
  expect(await ask('pods/p/exec')).toBe('400 Upgrade request required')
  expect(await ask('pods/p/exec', { isUpgrade: true })).toBe(`500 error dialing backend: ${refused}`)
})

test('a pod that has an address refuses the connection of a proxy', async () => {
  await world.createPod('x', 'p')
  await world.setStatus(world.pods, 'x', 'p', { podIP: '192.0.2.9', podIPs: [{ ip: '192.0.2.9' }] })
  const refused = '503 error trying to reach service: dial tcp 192.0.2.9'
  expect(await ask('pods/p/proxy?a=b')).toBe('301 /api/v1/namespaces/x/pods/p/proxy/?a=b')
  expect(await ask('pods/p/proxy/')).toBe(`${refused}:80: connect: connection refused`)
  expect(await ask('pods/https:p:/proxy/')).toBe(`${refused}:443: connect: connection refused`)
  expect(await ask('pods/p:8080/proxy', { method: 'POST' })).toBe(`${refused}:8080: connect: connection refused`)
})
