// What can be kept longer than a call takes: the classes of the objects that a field, a global or a
// callable leads to or contains, through pointers, arrays and the arguments of templates. An object
// of a class that nothing keeps is known only to those who are told of it (infer/reach.h).
#include "clang/unit.h"

namespace tomos::cpp {

using clang::CXXRecordDecl;
using clang::QualType;
using clang::RecordDecl;

namespace {

class Objects {
 public:
  explicit Objects(Unit& unit) : unit_(unit) {}

  std::set<std::string> found;

  void look(QualType type) {
    if (type.isNull()) return;
    type = unit_.context.getCanonicalType(type).getUnqualifiedType();
    if (type->isDependentType() || !seen_.insert(type.getTypePtr()).second) return;
    if (type->isPointerType() || type->isReferenceType()) {
      look(type->getPointeeType());
    } else if (type->isArrayType()) {
      look(unit_.context.getBaseElementType(type));
    } else if (const auto* atomic = type->getAs<clang::AtomicType>()) {
      look(atomic->getValueType());
    } else if (const RecordDecl* record = type->getAsRecordDecl()) {
      look(*record);
    }
  }

 private:
  void look(const RecordDecl& record) {
    if (const auto* special = llvm::dyn_cast<clang::ClassTemplateSpecializationDecl>(&record)) {
      for (const clang::TemplateArgument& one : special->getTemplateArgs().asArray()) look(one);
    }
    const auto* of_class = llvm::dyn_cast<CXXRecordDecl>(&record);
    if (of_class != nullptr && of_class->isLambda()) {
      for (const clang::FieldDecl* captured : record.fields()) look(captured->getType());
    } else if (!unit_.is_foreign(record)) {
      const QualType own = unit_.context.getRecordType(&record);
      const core::Type type = unit_.type_of(own);
      // A pointer class that leads to a lock is one, too.
      if (type.name != "int" && !unit_.lock_type(own)) found.insert(type.name);
    }
  }

  void look(const clang::TemplateArgument& of) {
    if (of.getKind() == clang::TemplateArgument::Type) {
      look(of.getAsType());
    } else if (of.getKind() == clang::TemplateArgument::Pack) {
      for (const clang::TemplateArgument& one : of.pack_elements()) look(one);
    }
  }

  Unit& unit_;
  std::set<const clang::Type*> seen_;
};

}  // namespace

std::vector<std::string> Unit::objects_in(QualType type) {
  Objects objects(*this);
  objects.look(type);
  return {objects.found.begin(), objects.found.end()};
}

void Unit::keep(QualType type) {
  for (const std::string& name : objects_in(type)) class_of(name).is_kept = true;
}

}  // namespace tomos::cpp
