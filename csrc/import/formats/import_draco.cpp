/* import_draco.cpp: see import_draco.h. */
#include "import_draco.h"

#include <draco/compression/config/compression_shared.h>
#include <draco/compression/decode.h>
#include <draco/compression/point_cloud/point_cloud_decoder.h>
#include <draco/core/varint_decoding.h>
#include <draco/mesh/mesh.h>
#include <draco/metadata/metadata_decoder.h>

#include <memory>
#include <new>

namespace {

struct too_wide {}; /* these are thrown through the library's decoder */
struct refused {};

} // namespace

/* The library adds an attribute when it has read its description, and takes memory for its values afterwards. It knows
   the number of points by then. */
struct import_draco : draco::Mesh {
  uint32_t width = 0;
  import_draco_allow *allow;
  void *context;

  import_draco(import_draco_allow *allow, void *context) : allow(allow), context(context) {}

  void check(uint32_t points, uint32_t faces) const {
    if (!allow(context, points, faces)) throw refused();
  }

  void SetAttribute(int id, std::unique_ptr<draco::PointAttribute> attribute) override {
    check(num_points(), num_faces());
    width += attribute->num_components();
    if (width > IMPORT_DRACO_MAX_WIDTH) throw too_wide();
    draco::Mesh::SetAttribute(id, std::move(attribute));
  }
};

namespace {

/* Reads how many points and faces the stream states, from a copy of the buffer. Draco bitstream 2.2, "Draco Decoder",
   "Sequential" and "EdgeBreaker Connectivity Header". Edgebreaker states no points, but vertices, of which there are
   no more. A face takes at least three bytes in a sequential stream, as the library requires; by the standard
   traversal of edgebreaker, a symbol takes at least one bit, and three symbols make at most four faces. */
bool read_counts(draco::DecoderBuffer buffer, uint32_t *points, uint32_t *faces) {
  draco::DracoHeader header;
  draco::GeometryMetadata metadata;
  uint8_t traversal;
  if (!draco::PointCloudDecoder::DecodeHeader(&buffer, &header).ok()) return false;
  if (header.version_major != 2 || header.version_minor != 2 || header.encoder_type != draco::TRIANGULAR_MESH)
    return false;
  buffer.set_bitstream_version(DRACO_BITSTREAM_VERSION(2, 2));
  if (header.flags & METADATA_FLAG_MASK) {
    draco::MetadataDecoder decoder;
    if (!decoder.DecodeGeometryMetadata(&buffer, &metadata)) return false;
  }
  if (header.encoder_method == draco::MESH_SEQUENTIAL_ENCODING)
    return draco::DecodeVarint(faces, &buffer) && draco::DecodeVarint(points, &buffer) &&
           *faces <= buffer.remaining_size() / 3;
  return buffer.Decode(&traversal) && draco::DecodeVarint(points, &buffer) && draco::DecodeVarint(faces, &buffer) &&
         (traversal != draco::MESH_EDGEBREAKER_STANDARD_ENCODING || *faces / 11 <= buffer.remaining_size());
}

import_draco_status decode(const uint8_t *data, size_t size, std::unique_ptr<import_draco> mesh, import_draco **out) {
  draco::DecoderBuffer buffer;
  draco::Decoder decoder;
  uint32_t points = 0, faces = 0;
  buffer.Init(reinterpret_cast<const char *>(data), size);
  if (!read_counts(buffer, &points, &faces)) return IMPORT_DRACO_BROKEN;
  mesh->check(points, faces);
  if (!decoder.DecodeBufferToGeometry(&buffer, mesh.get()).ok()) return IMPORT_DRACO_BROKEN;
  mesh->check(mesh->num_points(), mesh->num_faces());
  *out = mesh.release();
  return IMPORT_DRACO_DONE;
}

/* The library checks neither that the values of a broken stream are there nor that each point has one. */
template <typename number>
bool read(const import_draco *mesh, const draco::PointAttribute &attribute, uint32_t width, void *out) {
  number *to = static_cast<number *>(out);
  if (!attribute.is_mapping_identity() && attribute.indices_map_size() < mesh->num_points()) return false;
  for (draco::PointIndex point(0); point < mesh->num_points(); ++point, to += width) {
    draco::AttributeValueIndex value = attribute.mapped_index(point);
    if (value.value() >= attribute.size()) return false;
    if (!attribute.ConvertValue<number>(value, static_cast<int8_t>(width), to)) return false;
  }
  return true;
}

} // namespace

import_draco_status import_draco_decode(const uint8_t *data, size_t size, import_draco_allow *allow, void *context,
                                        import_draco **mesh) {
  *mesh = nullptr;
  try {
    return decode(data, size, std::make_unique<import_draco>(allow, context), mesh);
  } catch (const refused &) { return IMPORT_DRACO_REFUSED; } catch (const std::bad_alloc &) {
    return IMPORT_DRACO_NO_MEMORY;
  } catch (...) { return IMPORT_DRACO_BROKEN; }
}

uint32_t import_draco_point_count(const import_draco *mesh) { return mesh->num_points(); }

uint32_t import_draco_face_count(const import_draco *mesh) { return mesh->num_faces(); }

void import_draco_faces(const import_draco *mesh, uint32_t *out) {
  for (draco::FaceIndex face(0); face < mesh->num_faces(); ++face)
    for (draco::PointIndex point : mesh->face(face)) *out++ = point.value();
}

bool import_draco_attribute(const import_draco *mesh, uint32_t id, uint32_t component, uint32_t width, void *out) try {
  const draco::PointAttribute *attribute = mesh->GetAttributeByUniqueId(id);
  if (!attribute || attribute->num_components() != width) return false;
  switch (component) {
  case 5120: return read<int8_t>(mesh, *attribute, width, out);
  case 5121: return read<uint8_t>(mesh, *attribute, width, out);
  case 5122: return read<int16_t>(mesh, *attribute, width, out);
  case 5123: return read<uint16_t>(mesh, *attribute, width, out);
  case 5125: return read<uint32_t>(mesh, *attribute, width, out);
  case 5126: return read<float>(mesh, *attribute, width, out);
  default: return false;
  }
} catch (...) { return false; }

void import_draco_free(import_draco *mesh) { delete mesh; }
