export * from './session/client.ts'
export * from './session/websocket-wire.ts'
export type * from './session/wire.ts'
