// A PriorityLevelConfiguration as the numbers that decide, and the limits that follow from the shares of all levels.
import type { ApiObject } from '../../meta/object/api-object.js'
import { metaOf } from '../../meta/object/object-meta.js'
import { numberAt, numberOrNone, objectAt, objectOrNone, stringAt } from '../../meta/values/access.js'

export interface LevelSpec {
  readonly name: string
  readonly uid: string
  readonly isExempt: boolean
  readonly shares: number
  readonly lendablePercent: number
  /** Undefined: without a limit of its own. */
  readonly borrowingPercent: number | undefined
  /** Undefined: requests without a seat are rejected. */
  readonly queuing: QueuingSpec | undefined
}

export interface QueuingSpec {
  readonly queues: number
  readonly handSize: number
  readonly queueLengthLimit: number
}

export function compileLevel(object: ApiObject): LevelSpec {
  const spec = objectAt(object, 'spec')
  const isExempt = stringAt(spec, 'type') === 'Exempt'
  const shares = objectAt(spec, isExempt ? 'exempt' : 'limited')
  const response = objectAt(shares, 'limitResponse')
  const queuing = stringAt(response, 'type') === 'Queue' ? objectOrNone(response, 'queuing') : undefined
  const { name = '', uid = '' } = metaOf(object)
  return {
    name,
    uid,
    isExempt,
    shares: numberAt(shares, 'nominalConcurrencyShares'),
    lendablePercent: numberOrNone(shares, 'lendablePercent') ?? 0,
    borrowingPercent: isExempt ? undefined : numberOrNone(shares, 'borrowingLimitPercent'),
    queuing: queuing && {
      queues: numberAt(queuing, 'queues'),
      handSize: numberAt(queuing, 'handSize'),
      queueLengthLimit: numberAt(queuing, 'queueLengthLimit'),
    },
  }
}

/** Seats of a level: those of its share, and the least and the most that lending and borrowing may leave it. */
export interface LevelLimits {
  readonly nominal: number
  readonly lower: number
  readonly upper: number
}

export function limitsOf(spec: LevelSpec, serverSeats: number, shareSum: number): LevelLimits {
  const nominal = shareSum === 0 ? 0 : Math.ceil((serverSeats * spec.shares) / shareSum)
  const lendable = Math.round((nominal * spec.lendablePercent) / 100)
  const borrowing =
    spec.borrowingPercent === undefined ? serverSeats : Math.round((nominal * spec.borrowingPercent) / 100)
  return { nominal, lower: nominal - lendable, upper: nominal + borrowing }
}

const MAX_SEATS_PART = 0.15

/** The most seats that one request may take of a level with queues; 0 is no limit. */
export const maxSeatsOf = ({ queuing }: LevelSpec, { nominal }: LevelLimits): number =>
  queuing ? Math.max(1, Math.min(Math.ceil(nominal * MAX_SEATS_PART), Math.trunc(nominal / queuing.handSize))) : 0
