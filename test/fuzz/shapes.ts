// Sends large objects of every shape, by every verb, and measures for how long each held the event loop.
import { type LargeObject, largeObjects } from '../generators/large-objects.js'
import { type HostileServer } from '../hostile/hostile-server.js'

export interface ShapeCost {
  readonly shape: string
  readonly verb: string
  readonly status: number
  readonly bytes: number
  /** On an idle machine. */
  readonly heldMs: number
  readonly cpuMs: number
}

/** So many requests are measured between two measurements of the machine. */
const PER_CALIBRATION = 20

/** Shapes whose items differ, so that each is merged and tracked. */
const MERGED = / (plain|keys|domain keys|full)$/

export async function measureShapes(
  server: HostileServer,
  only: RegExp,
  report: (cost: ShapeCost) => void,
): Promise<void> {
  let slowness = 1
  let measured = 0
  for (const { shape, resource, object } of largeObjects()) {
    if (!only.test(`${resource.kind} ${shape}`)) continue
    const { kind } = resource
    const name = `shape-${measured}`
    const body = JSON.stringify(object(name))
    const path = pathOf(resource)
    const measure = async (verb: string, method: string, at: string, sent: string, type?: string): Promise<number> => {
      if (measured++ % PER_CALIBRATION === 0) slowness = await server.slowness()
      await server.reset()
      const { status, text } = await server.send(method, at, sent, type ? { 'content-type': type } : {})
      const { heldMs, cpuMs } = await server.measure()
      if (status === 500) console.log(`500: ${verb} ${kind} ${shape}: ${text.slice(0, 300)}`)
      report({
        shape: `${kind} ${shape}`,
        verb,
        status,
        bytes: sent.length,
        heldMs: heldMs / slowness,
        cpuMs: cpuMs / slowness,
      })
      return status
    }
    const isStored = (await measure('create', 'POST', path, body)) === 201
    if (!isStored) continue
    const named = `${path}/${name}`
    // The other verbs decode, default and validate as a create does. What they add depends on the members and items.
    if (MERGED.test(shape)) {
      await measure('update', 'PUT', named, body.replace('"metadata":{', '"metadata":{"labels":{"x":"y"},'))
      await measure('strategic patch', 'PATCH', named, body, 'application/strategic-merge-patch+json')
      await measure('apply', 'PATCH', `${named}?fieldManager=a&force=true`, body, 'application/apply-patch+yaml')
    }
    await server.send('DELETE', `${named}?gracePeriodSeconds=0`)
  }
}

const pathOf = ({ apiVersion, plural, namespaced }: LargeObject['resource']): string =>
  `${apiVersion.includes('/') ? '/apis/' : '/api/'}${apiVersion}${namespaced ? '/namespaces/default' : ''}/${plural}`
