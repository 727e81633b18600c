import type { UploadedBlock, UploadStore } from '../ports/upload-store.ts'

export class MemoryUploadStore implements UploadStore {
  readonly #uploads = new Map<string, { workspace: string; createdAtMs: number }>()
  readonly #blocks = new Map<string, Map<number, UploadedBlock>>()

  async create(workspace: string, id: string, createdAtMs: number): Promise<void> {
    this.#uploads.set(id, { workspace, createdAtMs })
    this.#blocks.set(id, new Map())
  }

  async exists(workspace: string, id: string): Promise<boolean> {
    return this.#uploads.get(id)?.workspace === workspace
  }

  async putBlock(id: string, block: UploadedBlock): Promise<boolean> {
    return this.#blocks.get(id)?.set(block.number, block) !== undefined
  }

  async blocks(id: string): Promise<readonly UploadedBlock[]> {
    return [...(this.#blocks.get(id)?.values() ?? [])].sort((a, b) => a.number - b.number)
  }

  async remove(id: string): Promise<void> {
    this.#uploads.delete(id)
    this.#blocks.delete(id)
  }

  async removeOlder(workspace: string, createdBeforeMs: number): Promise<void> {
    for (const [id, upload] of this.#uploads)
      if (upload.workspace === workspace && upload.createdAtMs < createdBeforeMs)
        await this.remove(id)
  }
}
